// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { renderPage } from '../../../../../tests/unit/render'
import { answer, refusal } from '../../../../../tests/unit/server'
import type { Job } from '../../../../api/queries/job'
import { hasFailed, WhyFailed } from '../WhyFailed'

const JOB = {
  id: 'j1',
  _type: 'ScriptJob',
  lifecycle: 'finished',
  state: 'failure',
  started_at: '2026-01-01T00:00:00.000Z',
  script_id: 's1',
  result: { code: 3 },
} as unknown as Job

const LINES = 'GET /job/j1/log/lines'
const SCRIPT = 'GET /job/j1/script'
const NOT_COMPARED = 'It could not be compared with the last successful run.'

beforeEach(() => {
  answer(LINES, { first: 1, total_lines: 2, lines: ['start', 'fatal: no moon'] })
  answer(SCRIPT, { last_good: null, same: false, arguments: [] })
})

test('a line that is no error is not called one, and a missing exit code is not 0', async () => {
  answer(LINES, { first: 1, total_lines: 2, lines: ['start', 'done'] })
  await renderPage(<WhyFailed job={{ ...JOB, result: { code: null } } as Job} />)
  const text = 'Failed · No line of the log looks like an error; its last line'
  expect(await screen.findByText(text)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'done' })).toBeTruthy()
  expect(screen.queryByText(/Exit code/)).toBeNull()
})

test('the card remains if a part of it cannot be loaded', async () => {
  answer(SCRIPT, refusal(404, 'There is no such job.'))
  await renderPage(<WhyFailed job={JOB} />)
  expect(await screen.findByText('Exit code 3 · First error in the log')).toBeTruthy()
  expect(await screen.findByText(NOT_COMPARED)).toBeTruthy()
})

test('the card remains if the log cannot be read', async () => {
  answer(LINES, refusal(404, 'There is no log.'))
  await renderPage(<WhyFailed job={JOB} />)
  expect(await screen.findByText('Exit code 3 · The log could not be read.')).toBeTruthy()
  expect(screen.getByText(/no earlier successful run/)).toBeTruthy()
})

test('a lost job says that its result is unknown', async () => {
  const job = { ...JOB, state: 'lost', result: undefined } as Job
  expect(hasFailed(job)).toBe(true)
  await renderPage(<WhyFailed job={job} />)
  expect(await screen.findByText(/^The result is unknown.* · First error in the log/)).toBeTruthy()
})

test('a failed run of a workflow leads to its failed steps, the first of them first', async () => {
  const step = (id: string, state: string, ended_at: string) => ({
    ...JOB,
    id,
    name: `Step ${id}`,
    state,
    ended_at,
  })
  answer('GET /workflows/w1/job/j1/jobs', [
    step('c', 'timeout', '2026-01-03'),
    step('b', 'failure', '2026-01-02'),
    step('a', 'success', '2026-01-01'),
  ])
  const run = { ...JOB, _type: 'WorkflowJob', workflow_id: 'w1', script_id: null } as Job
  expect(hasFailed(run)).toBe(true)
  await renderPage(<WhyFailed job={run} />)
  const links = (await screen.findAllByRole('link')).map((link) => link.textContent)
  expect(links).toEqual(['Step b', 'Step c'])
})
