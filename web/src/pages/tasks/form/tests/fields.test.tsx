// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { beforeEach, expect, test } from 'vitest'
import { choose, enter, field, openGroups, renderPage } from '../../../../../tests/unit/render'
import { answer, answerNames } from '../../../../../tests/unit/server'
import type { Task } from '../../../../api/queries/automation/task'
import type { Edits, FormProps } from '../../draft/taskDraft'
import { emptyTask } from '../../draft/templates'
import { ExecutionFields } from '../ExecutionFields'
import { GeneralFields } from '../GeneralFields'
import { KindFields } from '../KindFields'
import { faultsBelow, OptionFields } from '../OptionFields'

beforeEach(() => {
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  answerNames('task', [])
  answer('GET /tag', [{ name: 'nightly' }])
  answer('GET /api/member', [
    {
      id: 'm1',
      user_id: 'u1',
      user: { email: 'ana@example.org' },
      tags: [{ k: 'team', v: 'blue' }],
    },
  ])
  answer('GET /api/customer', { history: { count: 500, days: 30 } })
})

/** Shows a part of the form and returns all changes so far. */
async function open(
  Part: (props: FormProps) => React.ReactNode,
  type: Task['type'],
  change: Partial<Task> = {},
  props: Partial<FormProps> = {},
) {
  const changes: Edits = {}
  function Form() {
    const [task, setTask] = useState({ ...emptyTask(type), ...change })
    const set = (next: Edits) => {
      Object.assign(changes, next)
      setTask({ ...task, ...next } as Task)
    }
    return <Part task={task} set={set} errors={{}} readOnly={false} {...props} />
  }
  await renderPage(<Form />)
  await openGroups()
  return changes
}

test('name, description and whether it is enabled', async () => {
  const changes = await open(GeneralFields, 'script')
  enter('Name', 'Backup')
  enter('Description', 'Every night')
  fireEvent.click(field('Enabled'))
  expect(changes).toEqual({ name: 'Backup', description: 'Every night', enable: false })
})

test('a name that another task has is reported and may be kept', async () => {
  answerNames('task', [
    { id: 't1', name: 'Backup', detail: 'web-1' },
    { id: 't2', name: 'Deploy', detail: 'web-1' },
    { id: 't3', name: 'Deploy', detail: 'web-2' },
  ])
  const changes = await open(GeneralFields, 'script', { id: 't1', name: 'Backup' })
  expect(screen.queryByRole('status')).toBeNull()
  enter('Name', ' Deploy ')
  const warning = await screen.findByRole('status')
  expect(warning.textContent).toMatch(/^2 other tasks have this name \(on web-1, web-2\)/)
  expect(field('Name').getAttribute('aria-invalid')).not.toBe('true')
  enter('Name', 'Deploy 2')
  expect(screen.queryByRole('status')).toBeNull()
  expect(changes).toEqual({ name: 'Deploy 2' })
})

test('a long list of hosts with a task of this name is cut visibly', async () => {
  const tasks = [1, 2, 3, 4, 5, 6].map((n) => ({ id: `t${n}`, name: 'Deploy', detail: `web-${n}` }))
  answerNames('task', tasks)
  await open(GeneralFields, 'script', { name: 'Deploy' })
  const warning = await screen.findByRole('status')
  expect(warning.textContent).toContain('(on web-1, web-2, web-3, web-4, web-5, …)')
})

test('tags of other tasks are offered', async () => {
  const changes = await open(GeneralFields, 'script', { tags: ['db'] })
  await choose('Tags', 'nightly')
  expect(changes).toEqual({ tags: ['db', 'nightly'] })
})

test('the description of an approval is asked for where its question is', async () => {
  await open(GeneralFields, 'approval')
  expect(screen.queryByLabelText('Description')).toBeNull()
})

test('a script has a host, a command and a system user', async () => {
  const changes = await open(ExecutionFields, 'script')
  await choose('Host', 'web-1')
  enter('Run as', 'python3 %script%')
  enter('System user', 'backup')
  expect(changes).toEqual({ host_id: 'h1', script_runas: 'python3 %script%', os_user: 'backup' })
})

test('a web request runs on a host, without a command', async () => {
  await open(ExecutionFields, 'scraper')
  expect(screen.queryByLabelText('Run as')).toBeNull()
})

test('a host that was removed is still named', async () => {
  await open(ExecutionFields, 'script', { host_id: 'gone', hostname: 'old-1' })
  expect(field('Host').value).toBe('old-1')
})

test.each([
  [null, '', 'minutes'],
  [90_000, '90', 'seconds'],
  [600_000, '10', 'minutes'],
  [7_200_000, '2', 'hours'],
])('a time limit of %s is shown in its largest whole unit', async (timeout, number, unit) => {
  await open(ExecutionFields, 'script', { timeout: timeout as number | null })
  const [amount, units] = screen.getAllByLabelText<HTMLInputElement>('Time limit', {
    selector: 'input',
  })
  expect([amount!.value, units!.value]).toEqual([number, unit])
})

test('a time limit is stored in milliseconds, and an empty one is none', async () => {
  const changes = await open(ExecutionFields, 'script', { timeout: 600_000 })
  const amount = screen.getAllByLabelText('Time limit', { selector: 'input' })[0]!
  fireEvent.change(amount, { target: { value: '1.5' } })
  expect(changes).toEqual({ timeout: 90_000 })
  fireEvent.change(screen.getAllByLabelText('Time limit', { selector: 'input' })[0]!, {
    target: { value: '' },
  })
  expect(changes).toEqual({ timeout: null })
})

test('retries are off, and begin with usual values', async () => {
  const changes = await open(OptionFields, 'script')
  expect(screen.queryByLabelText('Maximum retries')).toBeNull()
  fireEvent.click(field('Retry after a failure'))
  expect(changes.retry).toEqual({ times: 3, delay: 10_000, backoff: 2, on_lost: false })
  enter('Initial delay (seconds)', '0.5')
  expect(changes.retry).toMatchObject({ times: 3, delay: 500 })
  fireEvent.click(field('Also retry if the outcome is unknown'))
  expect(changes.retry).toMatchObject({ delay: 500, on_lost: true })
  fireEvent.click(field('Retry after a failure'))
  expect(changes.retry).toBeNull()
})

test('an empty limit of concurrent jobs is none', async () => {
  const changes = await open(OptionFields, 'script', { concurrency: 4 })
  enter('Maximum concurrent jobs', '2')
  expect(changes.concurrency).toBe(2)
  enter('Maximum concurrent jobs', '')
  expect(changes.concurrency).toBeNull()
})

test('the time in the queue is entered in hours', async () => {
  const changes = await open(OptionFields, 'approval', { expires: 3_600_000 })
  expect(field('Maximum time in the queue (hours)').value).toBe('1')
  enter('Maximum time in the queue (hours)', '0.5')
  expect(changes.expires).toBe(1_800_000)
})

test('options of scripts are not offered for an approval', async () => {
  await open(OptionFields, 'approval')
  for (const label of ['Environment', 'Maximum concurrent jobs', /^Keep background/, /^Exit codes/])
    expect(screen.queryByLabelText(label)).toBeNull()
})

test('the state of a script that sets none', async () => {
  const changes = await open(OptionFields, 'script')
  await choose('State if the script sets none', 'failure')
  expect(changes.default_state_evaluation).toBe('failure')
  await choose('State if the script sets none', 'normal (default)')
  expect(changes.default_state_evaluation).toBe('')
})

test('an error of a variable names it', async () => {
  const errors = { 'env.PATH': 'This name is reserved.' }
  await open(OptionFields, 'script', {}, { errors })
  expect(screen.getByText('PATH: This name is reserved.')).toBeTruthy()
  expect(faultsBelow(errors, 'headers.')).toBeUndefined()
})

test('the retention is that of the organization until it is changed', async () => {
  const changes = await open(OptionFields, 'script')
  expect(await screen.findByText(/Keeps 500 jobs for 30 days, the organization’s/)).toBeTruthy()
  fireEvent.click(field('Use the organization’s default'))
  expect(changes.history).toMatchObject({ count: 500, days: 30, inherited: false })
  enter('Jobs', '20')
  expect(changes.history).toMatchObject({ count: 20, days: 30, inherited: false })
  fireEvent.click(field('Use the organization’s default'))
  expect(changes.history).toMatchObject({ count: 500, days: 30, inherited: true })
})

test('a web request: method, address, headers, body and what is checked', async () => {
  const changes = await open(KindFields, 'scraper')
  await choose('Method', 'POST')
  enter('Address', 'https://example.org/')
  enter('Headers', 'Accept: text/plain')
  enter('Body', '{}')
  fireEvent.click(field('Send as JSON'))
  expect(screen.queryByLabelText('Pattern')).toBeNull()
  await choose('Check the response', 'With a pattern')
  enter('Pattern', 'ok')
  expect(changes).toEqual({
    method: 'POST',
    url: 'https://example.org/',
    headers: { Accept: 'text/plain' },
    body: '{}',
    json: true,
    parser: 'pattern',
    pattern: 'ok',
  })
})

test.each(['scraper', 'approval', 'notification'] as const)(
  'at most five options of a %s are shown before a group is opened',
  async (type) => {
    const task = emptyTask(type)
    const form = <KindFields task={task} set={() => {}} errors={{}} readOnly={false} />
    const { container } = await renderPage(form)
    const inputs = container.querySelectorAll('input:not([type="hidden"]), textarea')
    expect([...inputs].length).toBeLessThanOrEqual(5)
  },
)

test('an error of a field in a closed group opens the group', async () => {
  const errors = { pattern: 'It cannot be read.' }
  const task = { ...emptyTask('scraper'), parser: 'pattern' } as Task
  await renderPage(<KindFields task={task} set={() => {}} errors={errors} readOnly={false} />)
  expect(screen.getByText('It cannot be read.')).toBeTruthy()
})

test('an approval asks the people that it names', async () => {
  const changes = await open(KindFields, 'approval', { approvers: ['u1'] })
  await waitFor(() => expect(screen.getByText('ana@example.org')).toBeTruthy())
  await choose('Who may decide', 'team:blue')
  expect(changes.approvers).toEqual(['ana@example.org', 'team:blue'])
  await choose('Who is asked', 'The person who started it')
  expect(changes.approvals_target).toBe('initiator')
  expect(screen.queryByLabelText(/^Who may decide/)).toBeNull()
})

test('an approval states its default answer and who may not decide', async () => {
  const changes = await open(KindFields, 'approval')
  await choose('If no one decides in time', 'counts as approval')
  fireEvent.click(field('The person who started it may not decide'))
  enter('Label of the Approve button', 'Deploy')
  expect(changes).toEqual({ default_answer: 'approve', four_eyes: true, success_label: 'Deploy' })
})

test('an approval may offer one answer only', async () => {
  const changes = await open(KindFields, 'approval')
  fireEvent.click(field('Approvers may reject'))
  expect(changes).toEqual({ failure_enabled: false })
})

test('a notification has a subject, a message and recipients', async () => {
  const changes = await open(KindFields, 'notification')
  enter('Subject', 'Done')
  enter('Message', 'It is done.')
  await choose('Recipients', 'ana@example.org')
  fireEvent.click(field('Also by e-mail'))
  expect(changes).toMatchObject({
    subject: 'Done',
    body: 'It is done.',
    recipients: ['ana@example.org'],
    notificationTypes: { email: true },
  })
})

test('errors of the server are shown at their fields', async () => {
  const errors = { name: 'This name is taken.' }
  await open(GeneralFields, 'script', {}, { errors })
  expect(screen.getByText('This name is taken.')).toBeTruthy()
})

test.each([GeneralFields, ExecutionFields, OptionFields])(
  'a reader without permission can change nothing: %s',
  async (Part) => {
    await open(Part, 'script', {}, { readOnly: true })
    await act(async () => {})
    const inputs = [...document.querySelectorAll<HTMLInputElement>('input, textarea')]
    const writable = inputs.filter((input) => !input.readOnly && !input.disabled)
    expect(writable.filter((input) => input.type !== 'hidden')).toEqual([])
  },
)
