// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { button, click, enter, field, press, renderPage } from '../../../../tests/unit/render'
import { answer, refusal, requestsTo } from '../../../../tests/unit/server'
import { newArgument } from '../../../pages/tasks/draft/templates'
import { lastValues, storeValues } from '../lastValues'
import { RunForm } from '../RunForm'
import type { Runnable, Target } from '../target'

const TASK: Target = { kind: 'task', id: 't1', name: 'Backup' }
const START = 'POST /task/t1/job'
const host = newArgument('input', { label: 'Host' })

function runnable(change: Partial<Runnable> = {}): Runnable {
  return { name: 'Backup', enable: true, acl: [], arguments: [host], ...change }
}

async function open(change: Partial<Runnable> = {}, level = 'owner', target = TASK) {
  const onStarted = vi.fn()
  const onClose = vi.fn()
  const form = (
    <RunForm target={target} runnable={runnable(change)} onStarted={onStarted} onClose={onClose} />
  )
  await renderPage(form, { level })
  return { onStarted, onClose }
}

const bodies = () => requestsTo(START).map(({ body }) => body)
const runButton = () => button(/^Run/)
const run = () => click(/^Run/)

test('the values of the form start a job', async () => {
  answer(START, { id: 'j1' })
  const { onStarted } = await open()
  enter('Host', 'web-1')
  await run()
  await waitFor(() => expect(onStarted).toHaveBeenCalledOnce())
  expect(onStarted.mock.lastCall![0]).toEqual({ id: 'j1' })
  expect(bodies()).toEqual([{ task_arguments: ['web-1'] }])
})

test('Ctrl+Enter starts it too', async () => {
  answer(START, { id: 'j1' })
  await open({ arguments: [] })
  await act(async () => press('Enter', { ctrlKey: true }))
  await waitFor(() => expect(bodies()).toHaveLength(1))
})

test('a missing value is shown at its field, and nothing is sent', async () => {
  await open()
  await run()
  expect(await screen.findByText('Required.')).toBeTruthy()
  enter('Host', 'web-1')
  expect(screen.queryByText('Required.')).toBeNull()
  expect(bodies()).toEqual([])
})

test('the first field has the focus, or the button if there is none', async () => {
  await open()
  expect(document.activeElement).toBe(field('Host'))
})

test('without fields the button has the focus', async () => {
  await open({ arguments: [] })
  expect(document.activeElement).toBe(runButton())
})

test('a refusal of the server is shown at the field that it names', async () => {
  const errors = [{ field: 'task_arguments[0]', message: 'This host is unknown.' }]
  answer(START, refusal(400, 'Invalid.', errors))
  await open()
  enter('Host', 'nowhere')
  await run()
  expect(await screen.findByText('This host is unknown.')).toBeTruthy()
  expect(screen.queryByRole('alert')).toBeNull()
})

test('a refusal that names no field is shown above the button', async () => {
  answer(START, refusal(409, 'Concurrency limit reached.'))
  const { onStarted } = await open({ arguments: [] })
  await run()
  expect((await screen.findByRole('alert')).textContent).toContain('Concurrency limit reached.')
  expect(onStarted).not.toHaveBeenCalled()
})

test('a second try of the same values has the same key, other values a new one', async () => {
  answer(START, refusal(503, 'Busy.'))
  await open()
  enter('Host', 'web-1')
  await run()
  await screen.findByRole('alert')
  await run()
  await waitFor(() => expect(bodies()).toHaveLength(2))
  enter('Host', 'web-2')
  await run()
  await waitFor(() => expect(bodies()).toHaveLength(3))
  const keys = requestsTo(START).map(({ headers }) => headers.get('idempotency-key'))
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).not.toBe(keys[0])
})

test('values can be entered as JSON, and go back into the form', async () => {
  answer(START, { id: 'j1' })
  await open()
  enter('Host', 'web-1')
  await click('As JSON', 'radio')
  expect(JSON.parse(field('Arguments as a JSON array').value)).toEqual(['web-1'])
  enter('Arguments as a JSON array', '["web-2"]')
  await click('Form', 'radio')
  expect(field('Host').value).toBe('web-2')
})

test('JSON that is no array is refused', async () => {
  await open({ arguments: null })
  enter('Arguments as a JSON array', '{"host": "web-1"}')
  await run()
  expect(await screen.findByText(/This must be a JSON array/)).toBeTruthy()
  expect(bodies()).toEqual([])
})

test('values of the last run are filled in, and can be cleared', async () => {
  storeValues('me', TASK, ['web-9'])
  await open()
  expect(field('Host').value).toBe('web-9')
  await click('Clear values')
  expect(field('Host').value).toBe('')
  expect(lastValues('me', TASK)).toBeUndefined()
})

test('values of a started job are remembered, but no hidden ones', async () => {
  answer(START, { id: 'j1' })
  const key = newArgument('input', { label: 'Key', masked: true })
  const { onStarted } = await open({ arguments: [host, key] })
  enter('Host', 'web-1')
  enter('Key', 'p4ss')
  await run()
  await waitFor(() => expect(onStarted).toHaveBeenCalled())
  expect(lastValues('me', TASK)).toEqual(['web-1', ''])
  expect(JSON.stringify({ ...localStorage })).not.toContain('p4ss')
})

test('values of another person or task are not used', () => {
  storeValues('me', TASK, ['mine'])
  expect(lastValues('you', TASK)).toBeUndefined()
  expect(lastValues('me', { ...TASK, kind: 'workflow' })).toBeUndefined()
})

test('a disabled task cannot be run, and the form says why', async () => {
  await open({ enable: false, arguments: [] })
  expect(runButton().disabled).toBe(true)
  expect(screen.getByText('This is disabled; enable it to run it.')).toBeTruthy()
  press('Enter', { ctrlKey: true })
  expect(bodies()).toEqual([])
})

test.each([
  ['a viewer', 'viewer', ['ana'], true],
  ['a user', 'user', [], false],
  ['a manager who is not named', 'manager', ['someone'], true],
  ['a manager who is named', 'manager', ['ANA@example.org'], false],
])('for %s the button is disabled: see the access list', async (_, level, acl, isDisabled) => {
  answer('GET /api/member', [])
  await open({ arguments: [], acl: acl as string[] }, level as string)
  expect(runButton().disabled).toBe(isDisabled)
})

test('the equivalent call hides hidden values', async () => {
  const key = newArgument('input', { label: 'Key', masked: true })
  await open({ arguments: [key] })
  enter('Key', 'p4ss')
  await click('Equivalent API call')
  const call = screen.getByRole('region', { name: 'Equivalent API call', hidden: true })
  expect(call.textContent).toContain('{"task_arguments":["***"]}')
})

test('a workflow is started at its own address', async () => {
  answer('POST /workflows/w1/job', { id: 'j2' })
  const { onStarted } = await open({ arguments: [] }, 'owner', {
    kind: 'workflow',
    id: 'w1',
    name: 'Release',
  })
  await run()
  await waitFor(() => expect(onStarted).toHaveBeenCalledOnce())
})
