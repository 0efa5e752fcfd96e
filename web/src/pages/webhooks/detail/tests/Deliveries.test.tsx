// @vitest-environment happy-dom
import { act, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { click, renderPage, watchToasts } from '../../../../../tests/unit/render'
import { answer, refusal, requestsTo } from '../../../../../tests/unit/server'
import { Deliveries } from '../Deliveries'

const LIST = 'GET /webhook/k1/delivery'
const DETAILS = 'GET /webhook/k1/delivery/d1'
const REPLAY = 'POST /webhook/k1/delivery/d1/replay'
const DELIVERY = {
  id: 'd1',
  webhook_id: 'k1',
  verdict: 'accepted',
  door: 'token',
  user: 'ana',
  address: '192.0.2.7',
  size: 2048,
  date: '2026-01-01T00:00:00Z',
  jobs: [{ id: '0123456789abcdef01234567' }],
}

beforeEach(() => {
  answer(LIST, [DELIVERY])
  answer(DETAILS, { ...DELIVERY, body: '["main"]', headers: { host: 'ci', accept: '*/*' } })
  answer(REPLAY, {})
})

async function open() {
  await renderPage(<Deliveries id="k1" />)
  return (await screen.findByText('ana', { exact: false })).closest('details')!
}

/** Opens a row as a click on its summary does. */
async function unfold(row: HTMLDetailsElement) {
  await act(async () => {
    row.open = true
    row.dispatchEvent(new Event('toggle'))
  })
}

test('a row shows verdict, access method, sender and size', async () => {
  const row = await open()
  expect(within(row).getByText('accepted')).toBeTruthy()
  expect(within(row).getByText(/by token · ana · 2 kB/)).toBeTruthy()
  expect(within(row).queryByText('replay')).toBeNull()
})

test('a caller without a name is shown by its address, and an unknown verdict as it is', async () => {
  answer(LIST, [{ ...DELIVERY, user: '', verdict: 'tomorrow', replay_of: 'd0' }])
  await renderPage(<Deliveries id="k1" />)
  expect(await screen.findByText(/192\.0\.2\.7/)).toBeTruthy()
  expect(screen.getByText('tomorrow')).toBeTruthy()
  expect(screen.getByText('replay')).toBeTruthy()
})

test('payload and headers are read only when the row is opened', async () => {
  const row = await open()
  expect(requestsTo(DETAILS)).toEqual([])
  await unfold(row)
  expect((await screen.findByRole('region', { name: 'Payload' })).textContent).toBe('["main"]')
  expect(screen.getByRole('region', { name: 'Headers' }).textContent).toBe('host: ci\naccept: */*')
  const job = screen.getByRole('link', { name: /^Job/ })
  expect(job.getAttribute('href')).toContain(`/acme/jobs/${DELIVERY.jobs[0]!.id}`)
})

test('a delivery without jobs and without a payload says so', async () => {
  answer(LIST, [{ ...DELIVERY, verdict: 'refused', jobs: [] }])
  answer(DETAILS, { ...DELIVERY, body: '', headers: {} })
  await unfold(await open())
  expect((await screen.findByRole('region', { name: 'Payload' })).textContent).toBe('empty')
  expect(screen.getByText('no jobs')).toBeTruthy()
})

test('a delivery runs again, and the list is read again', async () => {
  const toasts = watchToasts()
  await unfold(await open())
  await click('Run again')
  await waitFor(() => expect(toasts()).toContain('It was started again.'))
  expect(requestsTo(REPLAY)).toHaveLength(1)
  await waitFor(() => expect(requestsTo(LIST).length).toBeGreaterThan(1))
})

test('a refused replay shows the reason', async () => {
  answer(REPLAY, refusal(409, 'The webhook is disabled.'))
  const toasts = watchToasts()
  await unfold(await open())
  await click('Run again')
  await waitFor(() => expect(toasts().join()).toContain('The webhook is disabled.'))
})

test('a webhook that was never called says so', async () => {
  answer(LIST, [])
  await renderPage(<Deliveries id="k1" />)
  expect(await screen.findByText(/No deliveries yet/)).toBeTruthy()
})
