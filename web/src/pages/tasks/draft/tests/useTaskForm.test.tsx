// @vitest-environment happy-dom

import { useQuery } from '@tanstack/react-query'
import { act, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { renderPage, watchToasts } from '../../../../../tests/unit/render'
import { answer, type ReceivedRequest, refusal, requestsTo } from '../../../../../tests/unit/server'
import { type Task, taskQuery } from '../../../../api/queries/automation/task'
import { emptyTask, templateOf } from '../templates'
import { type TaskForm, useTaskForm } from '../useTaskForm'

const TASK = {
  ...emptyTask('script'),
  id: 't1',
  name: 'Backup',
  version: 3,
  script_id: 's1',
} as Task
const FILE = { id: 's1', filename: 'backup.sh', version: 7 }
const PATCH = 'PATCH /task/t1'
const FILE_PUT = 'PUT /file/s1'
const TIMEOUT = 'PUT /api/task/t1/timeout'

let server = { ...TASK }
let usedBy = [{ id: 't1', name: 'Backup' }]

beforeEach(() => {
  server = { ...TASK }
  usedBy = [{ id: 't1', name: 'Backup' }]
  answer('GET /task/t1', () => server)
  answer('GET /notify/rule', [])
  answer('GET /file/s1', FILE)
  answer('GET /file/s1/download', () => new Response('echo 1\n'))
  answer('GET /file/s1/linkedmodels', () => usedBy)
  answer(PATCH, ({ body, headers }: ReceivedRequest) => {
    if (headers.get('if-match') !== String(server.version))
      return refusal(412, 'Changed meanwhile.')
    server = { ...server, ...(body as object), version: server.version + 1 }
    return server
  })
  answer(TIMEOUT, ({ body }: ReceivedRequest) => ({ ...server, ...(body as object), version: 9 }))
  answer(FILE_PUT, { ...FILE, version: 8 })
})

let form: TaskForm

function Form() {
  const { data } = useQuery(taskQuery('t1'))
  return data ? <LoadedForm record={data} /> : null
}

function LoadedForm({ record }: { record: Task }) {
  form = useTaskForm(record)
  return <p>{form.script.isLoading ? 'loading' : `ready ${form.draft.task.name}`}</p>
}

async function open() {
  const page = await renderPage(<Form />)
  await screen.findByText(/^ready/)
  return page
}

const bodies = (route: string) => requestsTo(route).map(({ body }) => body)

test('only the edited fields are sent, over the version that they were read from', async () => {
  const toasts = watchToasts()
  await open()
  act(() => form.draft.set({ name: 'Nightly backup' }))
  expect(form.isDirty).toBe(true)
  await act(async () => form.save())
  await waitFor(() => expect(toasts()).toEqual(['Saved']))
  expect(bodies(PATCH)).toEqual([{ name: 'Nightly backup' }])
  expect(requestsTo(PATCH)[0]!.headers.get('if-match')).toBe('3')
  expect(form.isDirty).toBe(false)
  expect(form.draft.base.version).toBe(4)
})

test('without changes nothing is sent', async () => {
  await open()
  await act(async () => form.save())
  expect(bodies(PATCH)).toEqual([])
})

test('a time limit has a request of its own, after the definition', async () => {
  await open()
  act(() => form.draft.set({ timeout: 60_000, name: 'x' }))
  await act(async () => form.save())
  await waitFor(() => expect(bodies(TIMEOUT)).toEqual([{ timeout: 60_000 }]))
  expect(requestsTo(TIMEOUT)[0]!.headers.get('if-match')).toBe('4')
})

test('an edited script is saved over its own version', async () => {
  await open()
  await waitFor(() => expect(form.script.text).toBe('echo 1\n'))
  act(() => form.script.setText('echo 2\n'))
  expect(form.script.isDirty).toBe(true)
  await act(async () => form.save())
  await waitFor(() => expect(bodies(FILE_PUT)).toEqual([{ source: 'echo 2\n' }]))
  expect(requestsTo(FILE_PUT)[0]!.headers.get('if-match')).toBe('7')
  expect(bodies(PATCH)).toEqual([])
})

test('typing a script back is no change', async () => {
  await open()
  await waitFor(() => expect(form.script.text).toBe('echo 1\n'))
  act(() => form.script.setText('echo 2\n'))
  act(() => form.script.setText('echo 1\n'))
  expect(form.isDirty).toBe(false)
})

test('a script that others use can be saved as a copy for this task', async () => {
  usedBy = [...usedBy, { id: 't2', name: 'Other' }]
  await open()
  await waitFor(() => expect(form.script.others).toBe(1))
  act(() => form.script.setCopy(true))
  act(() => form.script.setText('echo 2\n'))
  await act(async () => form.save())
  await waitFor(() => expect(bodies(PATCH)).toHaveLength(1))
  expect(bodies(PATCH)[0]).toEqual({ script: { filename: 'backup.sh', source: 'echo 2\n' } })
  expect(bodies(FILE_PUT)).toEqual([])
})

test('someone else’s change is found when saving, and can be combined with the edits', async () => {
  await open()
  act(() => form.draft.set({ name: 'Mine' }))
  server = { ...server, description: 'Theirs', version: 4 }
  await act(async () => form.save())
  await waitFor(() => expect(form.draft.theirs).toMatchObject({ description: 'Theirs' }))
  act(() => form.settle(true))
  expect(form.draft.task).toMatchObject({ name: 'Mine', description: 'Theirs' })
  await act(async () => form.save())
  await waitFor(() => expect(server).toMatchObject({ name: 'Mine', description: 'Theirs' }))
})

test('or the edits are dropped', async () => {
  await open()
  act(() => form.draft.set({ name: 'Mine' }))
  server = { ...server, name: 'Theirs', version: 4 }
  await act(async () => form.save())
  await waitFor(() => expect(form.draft.theirs).not.toBeNull())
  act(() => form.settle(false))
  expect(form.draft.task.name).toBe('Theirs')
  expect(form.isDirty).toBe(false)
})

test('errors of fields belong to the form', async () => {
  answer(PATCH, refusal(400, 'Invalid.', [{ field: 'name', message: 'Required.' }]))
  await open()
  act(() => form.draft.set({ name: '' }))
  await act(async () => form.save())
  await waitFor(() => expect(form.errors).toEqual({ name: 'Required.' }))
})

test.each(['shell', 'python', 'request', 'approval', 'notification', 'input'])(
  'the template %s is new each time',
  (name) => {
    const first = templateOf(name)
    first.task.tags.push('changed')
    expect(templateOf(name).task.tags).toEqual([])
    expect(first.filename !== '').toBe(first.task.type === 'script')
  },
)

test('an unknown template is a shell script', () => {
  expect(templateOf('unknown')).toEqual(templateOf('shell'))
})
