import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Pace, paceMs } from '../pace'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const query = (ms: number | undefined, isShown = true) => ({
  meta: ms ? { paceMs: () => ms } : undefined,
  state: { data: undefined },
  queryHash: 'a',
  isActive: () => isShown,
})

test('the first reads come at once, further ones wait their turn', () => {
  const pace = new Pace()
  const row = query(15_000)
  expect([pace.delay(row), pace.delay(row), pace.delay(row)]).toEqual([0, 0, 15_000])
  vi.advanceTimersByTime(10_000)
  expect(pace.delay(row)).toBe(5_000)
  vi.advanceTimersByTime(5_000)
  expect([pace.delay(row), pace.delay(row)]).toEqual([0, 15_000])
})

test('after a quiet time the next changes are read at once again', () => {
  const pace = new Pace()
  const row = query(15_000)
  for (let n = 0; n < 20; n++) pace.delay(row)
  vi.advanceTimersByTime(60_000)
  expect([pace.delay(row), pace.delay(row), pace.delay(row)]).toEqual([0, 0, 15_000])
})

test('a query without a pace, and one that nobody shows, never wait', () => {
  const pace = new Pace()
  const delays = Array.from({ length: 9 }, () => [
    pace.delay(query(undefined)),
    pace.delay(query(15_000, false)),
  ])
  expect(new Set(delays.flat())).toEqual(new Set([0]))
})

test('a short list is read more often than a long one', () => {
  expect([paceMs(undefined, 30_000), paceMs(9, 30_000), paceMs(207, 30_000)]).toEqual([
    5_000, 5_000, 30_000,
  ])
})
