// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { createRef } from 'react'
import { expect, test, vi } from 'vitest'
import { logOf, numberedLines } from '../../../../tests/unit/log'
import { renderInConsole } from '../../../../tests/unit/render'
import type { LogStore } from '../data/logStore'
import { LogBar } from '../LogBar'

type Props = React.ComponentProps<typeof LogBar>

function open(store: LogStore, props: Partial<Props> = {}) {
  const calls = { onNeedle: vi.fn(), onWrap: vi.fn(), onTimed: vi.fn(), onFollow: vi.fn() }
  renderInConsole(
    <LogBar
      store={store}
      jobId="7"
      attempt={undefined}
      needle=""
      here={() => 0}
      row={null}
      onRow={() => {}}
      field={createRef()}
      wrap={false}
      isTimed={false}
      isFollowing
      rawUrl="/job/7/log"
      filename="backup.log"
      {...calls}
      {...props}
    />,
  )
  return calls
}

function storeWith(
  change: Parameters<LogStore['setStatus']>[0],
  text = numberedLines(3),
): LogStore {
  const store = logOf(text)
  store.setStatus(change)
  return store
}

const END = { bytes: 3_000, kept: 3_000, complete: true, sha256: '' }
const mark = () => document.querySelector<HTMLElement>('[data-mark]')!

test.each([
  ['loading', 'Loading'],
  ['live', 'Streaming'],
  ['reconnecting', 'Reconnecting'],
  ['paused', 'Paused'],
  ['failed', 'Not available'],
] as const)('a log that is %s is marked "%s"', (status, text) => {
  open(storeWith({ status }))
  expect(mark().textContent).toBe(text)
})

test('a log that was stored completely is marked so, with its number of lines', () => {
  open(storeWith({ status: 'ended', ending: END }))
  expect(mark().textContent).toBe('Complete')
  expect(screen.getByText('3 lines')).toBeTruthy()
})

test.each([
  ['the server dropped a part', { ...END, kept: 1_000 }],
  ['the agent could not send all', { ...END, complete: false }],
])('a log is marked as truncated when %s', (_, ending) => {
  open(storeWith({ status: 'ended', ending }))
  expect(mark().textContent).toBe('Truncated')
  // The badge can be focused, because its tooltip says how much is stored.
  expect(mark().tabIndex).toBe(0)
})

test('a script without output is not called truncated', () => {
  open(storeWith({ status: 'ended', ending: { ...END, bytes: 0, kept: 0 } }, ''))
  expect(mark().textContent).toBe('No output')
})

test('a job that has not started is marked so, unless its log is refused', () => {
  open(storeWith({ status: 'live' }, ''), { isWaiting: true })
  expect(mark().textContent).toBe('Not started')
})

test('a refused log of a waiting job is not available', () => {
  open(storeWith({ status: 'failed' }, ''), { isWaiting: true })
  expect(mark().textContent).toBe('Not available')
})

test('following can be switched while the log is open, not after its end', () => {
  const { onFollow } = open(storeWith({ status: 'live' }))
  fireEvent.click(screen.getByLabelText('Follow'))
  expect(onFollow).toHaveBeenCalledWith(false)
})

test('a log that has ended has nothing to follow', () => {
  open(storeWith({ status: 'ended', ending: END }))
  expect(screen.queryByLabelText('Follow')).toBeNull()
})

test('wrapping and timestamps are toggled, and their state is announced', () => {
  const { onWrap, onTimed } = open(storeWith({ status: 'live' }), { wrap: true })
  const wrap = screen.getByRole('button', { name: 'Wrap lines' })
  const times = screen.getByRole('button', { name: 'Timestamps' })
  expect([wrap, times].map((button) => button.getAttribute('aria-pressed'))).toEqual([
    'true',
    'false',
  ])
  fireEvent.click(wrap)
  fireEvent.click(times)
  expect([onWrap.mock.lastCall, onTimed.mock.lastCall]).toEqual([[false], [true]])
})

test('the raw log is a download with a name', () => {
  open(storeWith({ status: 'live' }))
  const link = screen.getByRole('link', { name: 'Raw' })
  expect([link.getAttribute('href'), link.getAttribute('download')]).toEqual([
    '/job/7/log',
    'backup.log',
  ])
})

test('Escape and the button clear the search', () => {
  const { onNeedle } = open(storeWith({ status: 'live' }))
  const field = screen.getByLabelText('Find in the log')
  fireEvent.change(field, { target: { value: 'error' } })
  expect(onNeedle).toHaveBeenLastCalledWith('error')
  fireEvent.keyDown(field, { key: 'Escape' })
  expect(onNeedle).toHaveBeenLastCalledWith('')
})
