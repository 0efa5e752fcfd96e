// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { eventText } from '../../../../tests/unit/log'
import { button, click, enter, field, renderPage } from '../../../../tests/unit/render'
import { answer, type ReceivedRequest, refusal, requestsTo } from '../../../../tests/unit/server'
import { newArgument } from '../../../pages/tasks/draft/templates'
import { lastLines } from '../lastLines'
import { RunDialog } from '../RunDialog'
import type { Target } from '../target'

const TASK: Target = { kind: 'task', id: 't1', name: 'Backup' }
const FLOW: Target = { kind: 'workflow', id: 'w1', name: 'Release' }
const JOB = {
  id: 'j1',
  task_id: 't1',
  name: 'Backup',
  hostname: 'web-1',
  lifecycle: 'assigned',
  state: 'in_progress',
  creation_date: '2026-01-01T00:00:00Z',
  started_at: null,
  ended_at: null,
}

function answerTask(task_arguments = [newArgument('input', { label: 'Host' })]) {
  answer('GET /task/t1', { name: 'Backup', enable: true, acl: [], task_arguments })
  answer('POST /task/t1/job', JOB)
  answer('GET /job/j1', JOB)
}

async function open(target = TASK) {
  const onClose = vi.fn()
  await renderPage(<RunDialog target={target} opened onClose={onClose} />)
  return { onClose }
}

test('the dialog asks for the arguments and then shows the output of the job', async () => {
  answerTask()
  answer(
    'GET /job/j1/log',
    () => new Response(eventText('output', 'one\ntwo\n', '1') + eventText('end', {})),
  )
  await open()
  await screen.findByText('Run Backup')
  await waitFor(() => field('Host'))
  enter('Host', 'web-1')
  await click(/^Run/)
  const output = await screen.findByRole('region', { name: 'Output' })
  await waitFor(() => expect(output.textContent).toBe('one\ntwo'))
  const link = screen.getByRole('link', { name: 'Open' })
  expect(link.getAttribute('href')).toBe('/acme/jobs/j1')
  expect(document.activeElement).toBe(link)
})

test('a job that ends without output says so', async () => {
  answerTask([])
  answer('GET /job/j1/log', () => new Response(eventText('end', {})))
  await open()
  await click(/^Run/)
  expect(await screen.findByText('It finished without output.')).toBeTruthy()
})

test('the back button leads to the form, to run it again', async () => {
  answerTask([])
  answer('GET /job/j1/log', () => new Response(eventText('end', {})))
  const { onClose } = await open()
  await click(/^Run/)
  await click('Back to the form')
  expect(await screen.findByText('This takes no arguments and starts immediately.')).toBeTruthy()
  await click('Cancel')
  expect(onClose).toHaveBeenCalledOnce()
})

test('a workflow takes the arguments of its first task', async () => {
  answerTask()
  answer('GET /workflows/w1', { name: 'Release', enable: true, acl: [], start_task_id: 't1' })
  await open(FLOW)
  await waitFor(() => expect(field('Host')).toBeTruthy())
})

test.each([403, 404])(
  'if the first task answers %i, arguments are entered as JSON',
  async (status) => {
    answer('GET /workflows/w1', { name: 'Release', enable: true, acl: [], start_task_id: 't1' })
    answer('GET /task/t1', refusal(status, 'No.'))
    await open(FLOW)
    expect(await screen.findByText(/cannot see its first task/)).toBeTruthy()
  },
)

test('a definition that cannot be loaded can be tried again', async () => {
  answer('GET /task/t1', refusal(500, 'Internal error.'))
  await open()
  expect(await screen.findByText('Internal error.')).toBeTruthy()
  answerTask()
  await click('Try again')
  await waitFor(() => expect(button(/^Run/)).toBeTruthy())
})

test('after a lost connection the output goes on where it stopped', async () => {
  answerTask([])
  answer('GET /job/j1/log', ({ headers }: ReceivedRequest) =>
    headers.get('last-event-id') === '4'
      ? new Response(eventText('output', 'two\n', '8') + eventText('end', {}))
      : new Response(eventText('output', 'one\n', '4')),
  )
  await open()
  await click(/^Run/)
  const output = await screen.findByRole('region', { name: 'Output' })
  await waitFor(() => expect(output.textContent).toBe('one\ntwo'), { timeout: 3_000 })
  expect(requestsTo('GET /job/j1/log')).toHaveLength(2)
})

test('the last lines of an output are plain text', () => {
  const output = '\u001b[31mred\u001b[0m\n10%\r20%\r\n\nlast\n'
  expect(lastLines(output, 10)).toEqual(['red', '20%', '', 'last'])
  expect(lastLines(output, 1)).toEqual(['last'])
})
