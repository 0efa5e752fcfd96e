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
