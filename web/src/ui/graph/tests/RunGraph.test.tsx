// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { click, renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { draftOf, RunPicture, tasksOf, useSteps } from '../RunGraph'
import { StepDetails } from '../StepDetails'

const STEPS = 'GET /workflows/w1/job/r1/steps'
const WORKFLOW = {
  id: 'w1',
  start: 'build',
  acl: [],
  enable: true,
  tasks: [{ id: 't1', name: 'Build', type: 'script' }],
  workflows: [{ id: 'w2', name: 'Rollback' }],
  graph: { nodes: [{ id: 'build', task_id: 't1' }], edges: null },
} as unknown as Workflow

beforeEach(() => {
  answer(STEPS, [
    { node_id: 'build', job_id: 'j1', visit: 1, state: 'ended', trigger_name: 'failure' },
    { node_id: 'build', job_id: 'j2', visit: 2, state: 'running', trigger_name: '' },
  ])
  answer('GET /workflows/w1/job/r1/jobs', [
    { id: 'j1', lifecycle: 'finished', state: 'failure' },
    { id: 'j2', lifecycle: 'started', state: 'in_progress' },
  ])
})

function States({ run }: { run: string | null }) {
  const { states, jobsOf } = useSteps('w1', run)
  const state = states.get('build')
  return (
    <p>
      {state ? `${state.look} ${state.visits}` : 'no state'}: {jobsOf.get('build')?.join(', ')}
    </p>
  )
}

test('a step has the state of its newest visit, and the jobs of all', async () => {
  await renderPage(<States run="r1" />)
  expect((await screen.findByText(/run 2/)).textContent).toBe('run 2: j1, j2')
})

test('a graph without a run asks for no steps', async () => {
  await renderPage(<States run={null} />)
  expect(screen.getByText(/no state/)).toBeTruthy()
  expect(requestsTo(STEPS)).toEqual([])
})

test('a workflow is drawn from its record: tasks with their type, workflows without', () => {
  expect(draftOf(WORKFLOW)).toEqual({ start: 'build', nodes: WORKFLOW.graph.nodes, edges: [] })
  expect(tasksOf(WORKFLOW).get('t1')).toEqual({ name: 'Build', detail: 'script' })
  expect(tasksOf(WORKFLOW).get('w2')).toEqual({ name: 'Rollback', detail: '' })
})

test('a workflow whose tasks were deleted has no graph', async () => {
  const empty = { ...WORKFLOW, graph: { nodes: [], edges: [] } } as unknown as Workflow
  await renderPage(<RunPicture workflow={empty} jobId={null} step={null} onStep={vi.fn()} />)
  expect(screen.getByText('task deleted')).toBeTruthy()
})

const JOB = {
  id: 'j1',
  lifecycle: 'finished',
  state: 'success',
  task: { task_arguments: [{ type: 'input', label: 'Branch' }] },
  task_arguments_values: ['main', 'extra'],
  output: { sha: 'abc' },
}

async function openStep(jobs: string[], hasRun = true, job: object = JOB) {
  answer('GET /job/j1', job)
  const node = { id: 'build', task_id: 't1' } as never
  await renderPage(<StepDetails node={node} jobs={jobs} hasRun={hasRun} onClose={() => {}} />)
}
const values = () =>
  [...document.querySelectorAll('.flow-values > div')].map((part) => part.textContent)

test('the input of a step has the names of the arguments, the output is a list', async () => {
  await openStep(['j1'])
  await click('Input', 'radio')
  expect(values()).toEqual(['Branchmain', '2extra'])
  await click('Output', 'radio')
  expect(values()).toHaveLength(1)
  expect(values()[0]).toContain('"sha"')
})

test('a step without input and output says so', async () => {
  await openStep(['j1'], true, { ...JOB, task_arguments_values: [], output: null })
  await click('Input', 'radio')
  expect(screen.getByText('No arguments.')).toBeTruthy()
  await click('Output', 'radio')
  expect(screen.getByText('No output values.')).toBeTruthy()
})

test('a step that did not run says whether there is a run', async () => {
  await openStep([])
  expect(screen.getByText('Not reached')).toBeTruthy()
  expect(screen.queryByRole('link', { name: 'Open job' })).toBeNull()
  await openStep([], false)
  expect(screen.getByText('No run is shown.')).toBeTruthy()
})
