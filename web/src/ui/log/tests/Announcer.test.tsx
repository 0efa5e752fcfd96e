// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { logOf, numberedLines } from '../../../../tests/unit/log'
import { renderInConsole } from '../../../../tests/unit/render'
import { Announcer } from '../Announcer'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const tenSeconds = () => act(() => void vi.advanceTimersByTime(10_000))

test('a screen reader hears a summary every ten seconds, with the last line', () => {
  const store = logOf(numberedLines(5))
  renderInConsole(<Announcer store={store} isFollowing />)
  tenSeconds()
  expect(screen.getByRole('status').textContent).toBe('')
  store.append('copying\n\x1b[32mdone\x1b[0m\n')
  tenSeconds()
  expect(screen.getByRole('status').textContent).toBe('2 new lines. done')
})

test('a reader who does not follow gets no announcements', () => {
  const store = logOf()
  renderInConsole(<Announcer store={store} isFollowing={false} />)
  store.append(numberedLines(5))
  tenSeconds()
  expect(screen.getByRole('status').textContent).toBe('')
})
