// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually, logOf, numberedLines } from '../../../../../tests/unit/log'
import { answer, type ReceivedRequest, requestsTo } from '../../../../../tests/unit/server'
import { setPrefs } from '../../../../lib/prefs'
import { LineTimes } from '../lineTimes'

const TIMES = 'GET /job/7/log/times'
const MARKS = [
  { line: 1, at: '2026-03-01T23:59:58Z' },
  { line: 3, at: '2026-03-01T23:59:59Z' },
  { line: 4, at: '2026-03-02T00:00:01Z' },
]

beforeEach(() => setPrefs({ zone: 'UTC', clock: '24' }))
afterEach(() => setPrefs({ zone: '', clock: 'auto' }))

async function timesOf(lines: number) {
  const store = logOf(numberedLines(lines))
  const times = new LineTimes('7', 2, store)
  expect(times.at(1)).toBe('')
  await eventually(() => expect(times.at(1)).not.toBe(''))
  return { times, store }
}

test('a line has the time of the last mark at or before it', async () => {
  answer(TIMES, { marks: MARKS, next: null })
  const { times } = await timesOf(5)
  expect(times.at(2)).toContain('23:59:58')
  expect(times.at(3)).toContain('23:59:59')
  expect(times.at(5)).toContain('00:00:01')
})

test('the day is written only where another day begins', async () => {
  answer(TIMES, { marks: MARKS, next: null })
  const { times } = await timesOf(5)
  const hasDay = (line: number) => times.at(line).includes(' ')
  expect([1, 2, 3, 4, 5].map(hasDay)).toEqual([true, false, false, true, false])
})

test('long lists of marks are read page by page', async () => {
  answer(TIMES, ({ query }: ReceivedRequest) =>
    query.from === '1'
      ? { marks: MARKS.slice(0, 2), next: 3 }
      : { marks: MARKS.slice(1), next: null },
  )
  const { times } = await timesOf(5)
  expect(times.at(4)).toContain('00:00:01')
  expect(requestsTo(TIMES).map(({ query }) => query)).toEqual([
    { from: '1', attempt: '2' },
    { from: '3', attempt: '2' },
  ])
})

test('many rows that need a time make one request', async () => {
  answer(TIMES, { marks: MARKS, next: null })
  const times = new LineTimes('7', undefined, logOf(numberedLines(5)))
  for (const line of [1, 2, 3, 4, 5]) times.at(line)
  await eventually(() => expect(times.at(1)).not.toBe(''))
  expect(requestsTo(TIMES)).toHaveLength(1)
})

test('new lines are requested again, not more than once a second', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  answer(TIMES, { marks: MARKS, next: null })
  const { times, store } = await timesOf(5)
  store.append('line 6\n')
  expect(times.at(6)).toBe('')
  await vi.advanceTimersByTimeAsync(500)
  expect(requestsTo(TIMES)).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(700)
  await eventually(() => expect(times.at(6)).toContain('00:00:01'))
  expect(requestsTo(TIMES).map(({ query }) => query.from)).toEqual(['1', '4'])
  vi.useRealTimers()
})
