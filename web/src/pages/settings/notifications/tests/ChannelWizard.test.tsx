// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { click, enter, renderPage, submit } from '../../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../../tests/unit/server'
import { ChannelWizard } from '../ChannelWizard'

const FAILED = { state: 'dead', tries: [{ fault: 'Refused.', hint: 'Check it.' }] }
const SENT = { state: 'sent', tries: [{ fault: '', hint: '' }] }
const CREATE = 'Create and send test'
const AGAIN = 'Save and test again'

beforeEach(() => {
  answer('POST /notify/channel', { id: 'c1' })
  answer('PATCH /notify/channel/c1', { id: 'c1' })
  answer('DELETE /notify/channel/c1', { id: 'c1' })
  answer('POST /notify/rule', { id: 'r1' })
  answer('PATCH /notify/rule/r1', { id: 'r1' })
  answer('DELETE /notify/rule/r1', { id: 'r1' })
})

const testsWill = (result: unknown) => answer('POST /notify/channel/c1/test', result)
const deletions = () => requestsTo('DELETE /notify/channel/c1').length
const bodiesOf = (route: string) => requestsTo(route).map(({ body }) => body)

async function openForm() {
  const onClose = vi.fn()
  await renderPage(<ChannelWizard onClose={onClose} />)
  await click('Webhook')
  enter('Webhook URL', 'https://example.com/hook')
  return onClose
}

async function failTest() {
  testsWill(FAILED)
  await submit(CREATE)
  await screen.findByText('Refused. Check it.')
}

async function sendTest(action = CREATE) {
  testsWill(SENT)
  await submit(action)
  await screen.findByText(/^Sent: /)
}

test.each(['Back', 'Close'])('%s after a failed test deletes the channel', async (name) => {
  const onClose = await openForm()
  await failTest()
  expect(screen.getByText('The channel is saved when a test message is sent.')).toBeTruthy()
  await click(name)
  await waitFor(() => expect(deletions()).toBe(1))
  expect(onClose).toHaveBeenCalledTimes(name === 'Close' ? 1 : 0)
})

test('closing during a test that fails deletes the channel', async () => {
  const onClose = await openForm()
  let respond = (_result: object) => {}
  testsWill(() => new Promise((resolve) => (respond = resolve)))
  await submit(CREATE)
  await waitFor(() => expect(requestsTo('POST /notify/channel/c1/test')).toHaveLength(1))
  await click('Close')
  expect(onClose).toHaveBeenCalledOnce()
  expect(deletions()).toBe(0)
  respond(FAILED)
  await waitFor(() => expect(deletions()).toBe(1))
})

test('another try changes the same channel, and a sent test keeps it', async () => {
  const onClose = await openForm()
  await failTest()
  enter('Webhook URL', 'https://example.com/other')
  await sendTest(AGAIN)
  expect(requestsTo('POST /notify/channel')).toHaveLength(1)
  expect(bodiesOf('PATCH /notify/channel/c1')).toMatchObject([{ url: 'https://example.com/other' }])
  await submit('Done')
  expect(onClose).toHaveBeenCalledOnce()
  expect(deletions()).toBe(0)
})

test.each([
  ['Only jobs', 'PATCH /notify/rule/r1', { kinds: ['job.*'] }],
  ['Nothing yet: I’ll create rules myself', 'DELETE /notify/rule/r1', undefined],
])('a choice after the sent test is saved: %s', async (label, route, body) => {
  const onClose = await openForm()
  await sendTest()
  expect(bodiesOf('POST /notify/rule')).toMatchObject([{ kinds: [], channels: ['c1'] }])
  fireEvent.click(screen.getByLabelText(label))
  await submit('Save')
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce())
  expect(requestsTo(route)).toHaveLength(1)
  if (body) expect(bodiesOf(route)).toMatchObject([body])
  expect(requestsTo('POST /notify/channel/c1/test')).toHaveLength(1)
})

test('an address that is changed after the sent test is tested again', async () => {
  await openForm()
  await sendTest()
  enter('Webhook URL', 'https://example.com/other')
  testsWill(FAILED)
  await submit(AGAIN)
  await screen.findByText('Refused. Check it.')
  await click('Close')
  await waitFor(() => expect(deletions()).toBe(1))
  expect(requestsTo('DELETE /notify/rule/r1')).toHaveLength(1)
})

test('a server with a path is refused where the service has none', async () => {
  await renderPage(<ChannelWizard onClose={() => {}} />)
  await click('ntfy')
  enter('Server', 'https://example.com/ntfy')
  expect(screen.getByText('Enter the server without a path.')).toBeTruthy()
})
