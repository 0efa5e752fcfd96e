// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { click, renderPage } from '../../../../tests/unit/render'
import { answer, type ReceivedRequest, requestsTo } from '../../../../tests/unit/server'
import { stateNames } from '../../../api/queries/job'
import { ProblemsCard } from '../cards/ProblemsCard'
import { ArrangeDialog } from '../layout/ArrangeDialog'
import { DEFAULT_LAYOUT } from '../layout/layout'

const LAYOUT = '/view/layout/dashboard'
const LOST = { id: 'j1', name: 'Nightly', lifecycle: 'terminated', state: 'lost', user: {} }

beforeEach(() => {
  answer('GET /-/counts', {
    hosts: { down: 0, down_hosts: [] },
    monitors: { failure: 0, updates_stopped: 0 },
  })
  answer('GET /monitor', [])
  answer('GET /-/board/monitors', [])
})

test('a lost job is a problem, and the link to all of them covers lost and failed ones', async () => {
  answer('GET /job', ({ query }: ReceivedRequest) =>
    JSON.stringify(query).includes('"lost"') ? [LOST] : [],
  )
  await renderPage(<ProblemsCard />)
  expect(await screen.findByText(/^Nightly/)).toBeTruthy()
  const all = screen.getByRole('link', { name: /Failed or lost jobs/ })
  expect(all.getAttribute('href')).toContain('state=problems')
  expect(stateNames({})).not.toContain('problems')
  expect(stateNames({ state: 'problems' })).toContain('problems')
})

const OFFLINE = { id: 'h1', hostname: 'web-1', last_seen: null }
const FAILING = { type: 'ping', hostname: 'web-2', enable: true, state: 'failure' }
const UNCHECKED = { ...FAILING, hostname: 'web-1', state: 'unknown', is_host_down: true }

/** Shows the monitors with the counts of the server; the badge of the failing ones. */
async function badgeOf(rows: object[], total: number, failure: number) {
  answer('GET /-/counts', {
    hosts: { down: 1, down_hosts: [OFFLINE] },
    monitors: { failure, updates_stopped: 0 },
  })
  answer('GET /job', [])
  const lines = rows.map((row, n) => ({ ...row, id: `m${n}`, name: `Monitor ${n}` }))
  const headers = { 'x-total-count': String(total) }
  answer('GET /-/board/monitors', Response.json(lines, { headers }))
  await renderPage(<ProblemsCard />)
  await screen.findByText('Monitor 0')
  // The counts are read.
  await screen.findByRole('link', { name: /^web-1/ })
  return screen.getByRole('heading', { name: 'Monitors failing' }).nextElementSibling!.textContent
}

test('the number of failing monitors includes those that are not checked', async () => {
  expect(await badgeOf([FAILING, UNCHECKED], 2, 1)).toBe('2')
})

test('it says if more monitors are not checked than are listed', async () => {
  const rows = [FAILING, UNCHECKED, UNCHECKED, UNCHECKED, UNCHECKED]
  expect(await badgeOf(rows, 12, 1)).toBe('5+')
})

test('it is exact if more monitors fail than are listed', async () => {
  expect(await badgeOf(Array(5).fill(FAILING), 12, 7)).toBe('7')
})

test('a manager can remove the shared layout', async () => {
  answer(`GET ${LAYOUT}`, { own: null, shared: DEFAULT_LAYOUT })
  answer(`DELETE ${LAYOUT}`, { own: null, shared: null })
  const onClose = vi.fn()
  await renderPage(<ArrangeDialog layout={DEFAULT_LAYOUT} onClose={onClose} />)
  await click('Reset for everyone')
  await waitFor(() => expect(onClose).toHaveBeenCalled())
  expect(requestsTo(`DELETE ${LAYOUT}`)[0]!.query.shared).toBe('true')
})

test('without a shared layout, users can reset only their own', async () => {
  answer(`GET ${LAYOUT}`, { own: null, shared: DEFAULT_LAYOUT })
  answer(`DELETE ${LAYOUT}`, { own: null, shared: DEFAULT_LAYOUT })
  await renderPage(<ArrangeDialog layout={DEFAULT_LAYOUT} onClose={() => {}} />, { level: 'user' })
  await waitFor(() => expect(requestsTo(`GET ${LAYOUT}`)).toHaveLength(1))
  expect(screen.queryByRole('button', { name: 'Reset for everyone' })).toBeNull()
  await click('Reset for me')
  await waitFor(() => expect(requestsTo(`DELETE ${LAYOUT}`)[0]!.query.shared).toBe('false'))
})
