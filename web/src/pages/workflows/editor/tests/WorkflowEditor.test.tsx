// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import {
  button,
  choose,
  click,
  enter,
  field,
  press,
  renderPage,
  watchToasts,
} from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import type { Workflow } from '../../../../api/queries/automation/workflow'
import { WorkflowEditor } from '../WorkflowEditor'

const SAVE = 'PATCH /workflows/w1'
const node = (id: string) => ({ id, task_id: `task of ${id}` })
const WORKFLOW = {
  id: 'w1',
  name: 'Release',
  version: 4,
  start: 'build',
  graph: {
    nodes: ['build', 'test', 'deploy'].map(node),
    edges: [
      { source: 'build', target: 'test', on: 'success' },
      { source: 'test', target: 'deploy', on: 'success' },
    ],
  },
} as unknown as Workflow

beforeEach(() => {
  answerNames('task', [
    { id: 'task of build', name: 'Build', detail: 'ci-1' },
    { id: 'task of notify', name: 'Notify' },
  ])
  answerNames('workflow', [
    { id: 'w1', name: 'Release' },
    { id: 'w2', name: 'Rollback' },
  ])
  answer(SAVE, { ...WORKFLOW, version: 5 })
})

/** The table view: the same operations as the graph, for the keyboard. */
async function open(workflow = WORKFLOW) {
  const onLeave = vi.fn()
  const onTable = vi.fn()
  const element = (record: Workflow) => (
    <WorkflowEditor workflow={record} isTable onTable={onTable} onLeave={onLeave} />
  )
  const page = await renderPage(element(workflow))
  await screen.findByText('Build')
  return { ...page, onLeave, onTable }
}

const rows = () =>
  screen
    .getAllByRole('row')
    .slice(1)
    .map((row) => within(row).getAllByRole('cell').slice(0, 3))
    .map((cells) => cells.map((cell) => cell.textContent))
const follows = () => Object.fromEntries(rows().map(([step, , next]) => [step, next]))
const saved = () => requestsTo(SAVE).map(({ body }) => body as Record<string, unknown>)

async function select(step: string) {
  const row = screen.getAllByRole('row').find((line) => line.textContent!.startsWith(step))!
  await act(async () => within(row).getByRole('button', { name: 'Actions' }).click())
  await click('Edit', 'menuitem')
}

async function connect(source: string, target: string, on?: string) {
  await click('Connect')
  await choose('From step', source)
  await choose('To step', target)
  if (on) enter('When it ends with', on)
}

const submitDialog = async () => {
  const dialog = await screen.findByRole('dialog')
  await act(async () => dialog.querySelector('form')!.requestSubmit())
}

test('steps and what follows them are listed', async () => {
  await open()
  expect(follows()).toMatchObject({
    'build (start)': expect.stringContaining('test'),
    test: expect.stringContaining('deploy'),
  })
  expect(button('Save').disabled).toBe(true)
})

test('a new step is added; nothing leads to it yet, so it cannot be saved', async () => {
  await open()
  await click('Add step')
  await choose('Choose the task or workflow that it runs', 'Notify')
  await submitDialog()
  expect(rows().map(([step]) => step)).toContain('Notify')
  expect(screen.getByText('No connection leads to Notify: connect or remove them.')).toBeTruthy()
  expect(button('Save').disabled).toBe(true)
})

test('a workflow cannot be a step of itself', async () => {
  await open()
  await click('Add step')
  await choose('Choose the task or workflow that it runs', 'Rollback')
  expect(screen.queryByRole('option', { name: 'Release', hidden: true })).toBeNull()
})

test('two steps are connected for an event, and the graph is saved', async () => {
  const toasts = watchToasts()
  await open()
  await connect('build', 'deploy', 'failure')
  await submitDialog()
  await waitFor(() => expect(follows()['build (start)']).toMatch(/deploy/))
  expect(screen.getByText('Not saved')).toBeTruthy()
  await click('Save')
  await waitFor(() => expect(toasts()).toEqual(['Saved']))
  expect(requestsTo(SAVE)[0]!.headers.get('if-match')).toBe('4')
  expect(saved()[0]).toMatchObject({
    start: 'build',
    graph: { edges: [{}, {}, { source: 'build', target: 'deploy', on: 'failure' }] },
  })
  await waitFor(() => expect(screen.queryByText('Not saved')).toBeNull())
})

test('the same connection twice is refused', async () => {
  const toasts = watchToasts()
  await open()
  await connect('build', 'test')
  await submitDialog()
  expect(toasts()).toEqual(['These steps are already connected in this way.'])
  expect(button('Undo').disabled).toBe(true)
})

test('a connection that leads back needs a number of times', async () => {
  await open()
  await connect('deploy', 'build', 'failure')
  enter('Maximum passes', '5')
  await submitDialog()
  await click('Save')
  await waitFor(() => expect(saved()).toHaveLength(1))
  expect(saved()[0]).toMatchObject({
    graph: { edges: [{}, {}, { source: 'deploy', target: 'build', on: 'failure', max_visits: 5 }] },
  })
})

test('a removed step takes its connections along, and undo brings both back', async () => {
  await open()
  await select('test')
  await click('Remove step')
  expect(rows().map(([step]) => step)).toEqual(['build (start)', 'deploy'])
  await act(async () => press('z', { ctrlKey: true }))
  expect(rows()).toHaveLength(3)
  expect(follows().test).toContain('deploy')
  expect(screen.queryByText('Not saved')).toBeNull()
  await act(async () => press('z', { ctrlKey: true, shiftKey: true }))
  expect(rows()).toHaveLength(2)
})

test('a step gets another name, also in its connections, and undo restores it', async () => {
  await open()
  await select('test')
  await act(async () => press('F2'))
  expect((document.activeElement as HTMLInputElement).value).toBe('test')
  enter('Name of the step', 'deploy')
  expect(screen.getByText('Another step has this name.')).toBeTruthy()
  await act(async () => void fireEvent.keyDown(field('Name of the step'), { key: 'Enter' }))
  expect(screen.queryByText('Not saved')).toBeNull()
  enter('Name of the step', 'check')
  await act(async () => void fireEvent.keyDown(field('Name of the step'), { key: 'Enter' }))
  expect(follows()['build (start)']).toContain('check')
  expect(follows().check).toContain('deploy')
  expect(screen.getByText('Step: check')).toBeTruthy()
  await act(async () => press('z', { ctrlKey: true }))
  expect(follows()['build (start)']).toContain('test')
})

test('a step is duplicated by key or menu, and undo removes the copy', async () => {
  await open()
  await select('build')
  await act(async () => press('d', { ctrlKey: true }))
  expect(screen.getByText('Step: build 2')).toBeTruthy()
  expect(screen.getByText('No connection leads to build 2: connect or remove them.')).toBeTruthy()
  await act(async () => press('z', { ctrlKey: true }))
  expect(rows()).toHaveLength(3)
  const row = screen.getAllByRole('row').find((line) => line.textContent!.startsWith('deploy'))!
  await act(async () => within(row).getByRole('button', { name: 'Actions' }).click())
  await click('Duplicate step', 'menuitem')
  expect(rows().map(([step]) => step)).toContain('deploy 2')
})

test('the start can be moved to another step', async () => {
  await open()
  await select('test')
  await click('Start here')
  expect(rows().map(([step]) => step)).toEqual(['build', 'test (start)', 'deploy'])
  expect(screen.getByText(/^No connection leads to build/)).toBeTruthy()
})

test('a step with several connections to it waits for one or for all', async () => {
  await open()
  await select('deploy')
  expect(screen.queryByText('With several incoming connections')).toBeNull()
  await connect('build', 'deploy', 'failure')
  await submitDialog()
  await select('deploy')
  await click('wait for all', 'radio')
  await click('Save')
  await waitFor(() => expect(saved()).toHaveLength(1))
  const graph = saved()[0]!.graph as { nodes: object[] }
  expect(graph.nodes[2]).toMatchObject({ id: 'deploy', join: 'all' })
})

test('a step is retried, with a delay in seconds', async () => {
  await open()
  await select('build')
  enter('Retry: Times', '2')
  enter('After (seconds)', '30')
  await click('Save')
  await waitFor(() => expect(saved()).toHaveLength(1))
  const graph = saved()[0]!.graph as { nodes: object[] }
  expect(graph.nodes[0]).toMatchObject({ retry: { times: 2, delay: 30_000 } })
})

test('a connection is changed or removed from its step', async () => {
  await open()
  await select('build')
  await click(/^Change connection/)
  enter('When it ends with', 'always')
  expect(follows()['build (start)']).toMatch(/always/i)
  await click('Remove connection')
  expect(screen.getByText(/^No connection leads to test, deploy/)).toBeTruthy()
})

test('the panel of a connection closes when undo removes it', async () => {
  await open()
  await connect('build', 'deploy', 'failure')
  await submitDialog()
  await select('build')
  await click(/^Change connection: .*deploy/)
  expect(screen.getByText('Connection: build → deploy')).toBeTruthy()
  await act(async () => press('z', { ctrlKey: true }))
  expect(screen.queryByText('Connection: build → deploy')).toBeNull()
})

test('Ctrl+S saves a change, and only a change', async () => {
  await open()
  await act(async () => press('s', { ctrlKey: true }))
  expect(saved()).toEqual([])
  await select('test')
  await click('Remove step')
  await connect('build', 'deploy')
  await submitDialog()
  await act(async () => press('s', { ctrlKey: true }))
  await waitFor(() => expect(saved()).toHaveLength(1))
})

test('a refused graph stays as it is, and the refusal is shown', async () => {
  const toasts = watchToasts()
  answer(SAVE, refusal(400, 'The graph has a loop through w2.'))
  await open()
  await select('deploy')
  await click('Remove step')
  await click('Save')
  await waitFor(() => expect(toasts()).toEqual(['The graph has a loop through w2.']))
  expect(screen.getByText('Not saved')).toBeTruthy()
  expect(rows()).toHaveLength(2)
})

test('leaving and the other view are up to the page', async () => {
  const { onLeave, onTable } = await open()
  await click('Graph', 'radio')
  expect(onTable).toHaveBeenCalledWith(false)
  await click('Stop editing')
  expect(onLeave).toHaveBeenCalledOnce()
})

test('an empty workflow asks for its first step, which becomes the start', async () => {
  const empty = { ...WORKFLOW, start: '', graph: { nodes: [], edges: [] } } as unknown as Workflow
  await renderPage(
    <WorkflowEditor workflow={empty} isTable onTable={() => {}} onLeave={() => {}} />,
  )
  expect(screen.getByText('Add the first step.')).toBeTruthy()
  await click('Add step')
  await choose('Choose the task or workflow that it runs', 'Rollback')
  await submitDialog()
  await click('Save')
  await waitFor(() => expect(saved()).toHaveLength(1))
  expect(saved()[0]).toEqual({
    start: 'Rollback',
    graph: { nodes: [{ id: 'Rollback', workflow_id: 'w2' }], edges: [] },
  })
})
