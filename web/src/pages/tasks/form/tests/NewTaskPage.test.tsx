// @vitest-environment happy-dom
import { act, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import {
  choose,
  click,
  enter,
  field,
  press,
  renderPage,
  submit,
} from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import { emptyTask } from '../../draft/templates'
import { NewTaskPage } from '../NewTaskPage'

const CREATE = 'POST /task'
const ID = '65f0c0ffee65f0c0ffee65f0'
const HOSTS = [
  { id: 'h1', name: 'web-1' },
  { id: 'h2', name: 'web-2' },
]

beforeEach(() => {
  answerNames('host', HOSTS)
  answerNames('task', [])
  answer('GET /api/customer', { history: { count: 500, days: 30 } })
  answer('GET /notify/rule', [])
  answer('GET /notify/channel', [])
  answer(CREATE, { ...emptyTask('script'), id: 't9' })
})

const open = (search = '?template=shell', level = 'admin') =>
  renderPage(<NewTaskPage />, { address: `/tasks/new${search}`, path: 'tasks/new', level })

const created = () => requestsTo(CREATE)[0]!.body as Record<string, unknown>

test('without a template the page offers some', async () => {
  await open('')
  expect(screen.getByText('Shell script')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Create' })).toBeNull()
})

test('a reader who may not create tasks is not asked to fill in a form', async () => {
  await open('?template=shell', 'manager')
  expect(screen.getByText('Only admins can change tasks.')).toBeTruthy()
  expect(screen.queryByLabelText(/^Name/)).toBeNull()
})

test('a script task is created with its script, and its page opens', async () => {
  const { location } = await open()
  enter('Name', 'Backup')
  await choose('Host', 'web-2')
  enter('File name', 'backup.sh')
  await submit('Create')
  await waitFor(() => expect(location().pathname).toBe('/acme/tasks/t9'))
  expect(created()).toMatchObject({
    type: 'script',
    name: 'Backup',
    host_id: 'h2',
    script: { filename: 'backup.sh', source: expect.stringContaining('#!/bin/bash') },
  })
  for (const name of ['id', 'version', 'acl', 'triggers'])
    expect(created()).not.toHaveProperty(name)
})

test('the only host is chosen without a question', async () => {
  answerNames('host', HOSTS.slice(0, 1))
  await open()
  await waitFor(() => expect(field('Host').value).toBe('web-1'))
})

test('a host in the address is chosen', async () => {
  await open('?template=shell&host=h2')
  await waitFor(() => expect(field('Host').value).toBe('web-2'))
})

test('Ctrl+S creates the task', async () => {
  await open('?template=approval')
  enter('Name', 'Release')
  await act(async () => press('s', { ctrlKey: true }))
  await waitFor(() => expect(requestsTo(CREATE)).toHaveLength(1))
  expect(created()).toMatchObject({ type: 'approval', name: 'Release' })
  expect(created()).not.toHaveProperty('script')
})

test('a refusal is shown at its field, and what was typed stays', async () => {
  answer(CREATE, refusal(400, 'Invalid.', [{ field: 'name', message: 'This name is taken.' }]))
  const { location } = await open('?template=input')
  enter('Name', 'Backup')
  await submit('Create')
  expect(await screen.findByText('This name is taken.')).toBeTruthy()
  expect(field('Name').value).toBe('Backup')
  expect(location().pathname).toBe('/acme/tasks/new')
})

test('a copy begins with the other task, under a new name and with the same script', async () => {
  const other = { ...emptyTask('script'), id: ID, name: 'Backup', script_id: 's1', host_id: 'h1' }
  answer(`GET /task/${ID}`, other)
  answer('GET /file/s1', { id: 's1', filename: 'backup.sh', version: 1 })
  await open(`?template=${ID}`)
  await waitFor(() => expect(field('Name').value).toBe('Backup 2'))
  await submit('Create')
  await waitFor(() => expect(requestsTo(CREATE)).toHaveLength(1))
  expect(created()).toMatchObject({ name: 'Backup 2', script_id: 's1', host_id: 'h1' })
})

test('leaving a form with changes asks first', async () => {
  const { location } = await open('?template=notification')
  enter('Name', 'x')
  await click('Cancel', 'link')
  expect(await screen.findByText('Leave without saving?')).toBeTruthy()
  expect(location().pathname).toBe('/acme/tasks/new')
})

test('leaving an untouched form does not', async () => {
  const { location } = await open('?template=notification')
  await click('Cancel', 'link')
  await waitFor(() => expect(location().pathname).toBe('/acme/tasks'))
})
