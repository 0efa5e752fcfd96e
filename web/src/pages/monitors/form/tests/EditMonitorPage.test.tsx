// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import {
  button,
  enter,
  field,
  renderPage,
  submit,
  watchToasts,
} from '../../../../../tests/unit/render'
import { answer, answerNames, refusal, requestsTo } from '../../../../../tests/unit/server'
import { EditMonitorPage } from '../MonitorEditPage'

const SAVE = 'PATCH /monitor/m1'
const MONITOR = {
  id: 'm1',
  name: 'Mail',
  type: 'tcp',
  version: 4,
  host_id: 'h1',
  hostname: 'web-1',
  state: 'normal',
  enable: true,
  tags: [],
  acl: [],
  looptime: 60_000,
  target: 'mail.example',
  port: 25,
  config: { target: 'mail.example', port: 25 },
}

beforeEach(() => {
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  answer('GET /host/h1', { id: 'h1', hostname: 'web-1', state: 'online' })
  answer('GET /file', [])
  answer('GET /notify/rule', [])
  answer('GET /notify/channel', [])
  answer('GET /monitor/m1', MONITOR)
  answer(SAVE, { ...MONITOR, name: 'Post', version: 5 })
})

async function open(level?: string) {
  return renderPage(<EditMonitorPage />, {
    address: '/monitors/m1/settings',
    path: 'monitors/$id/settings',
    ...(level ? { level } : {}),
  })
}

test('a change is saved with the version that was edited', async () => {
  const toasts = watchToasts()
  await open()
  await screen.findByLabelText(/^Name( \*)?$/, { selector: 'input' })
  enter('Name', 'Post')
  await submit('Save')
  await waitFor(() => expect(toasts()).toContain('Saved'))
  const [request] = requestsTo(SAVE)
  expect(request!.headers.get('if-match')).toBe('4')
  expect(request!.body).toMatchObject({ name: 'Post', target: 'mail.example' })
})

test('a refused field keeps the entered value', async () => {
  answer(SAVE, refusal(400, 'Invalid.', [{ field: 'port', message: 'Between 1 and 65535.' }]))
  await open()
  await screen.findByLabelText(/^Name( \*)?$/, { selector: 'input' })
  enter('Name', 'Post')
  await submit('Save')
  expect(await screen.findByText('Between 1 and 65535.')).toBeTruthy()
  expect(field('Name').value).toBe('Post')
})

test('the monitor of a host itself cannot be deleted', async () => {
  answer('GET /monitor/m1', { ...MONITOR, type: 'host' })
  await open()
  await waitFor(() => expect(button('Save')).toBeTruthy())
  expect(screen.queryByRole('button', { name: 'Delete' })).toBeNull()
})

test('a reader who may not edit monitors sees no form', async () => {
  await open('viewer')
  expect(screen.queryByRole('button', { name: 'Save' })).toBeNull()
})
