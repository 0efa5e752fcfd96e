// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { countsByName } from './job'
import { type MonitorLine, newestCheck, withLines } from './monitoring/monitor'

const line = (id: string, value: number) => ({ id, value }) as MonitorLine

test('only the lines that were read again are replaced, in their places', () => {
  const page = { rows: [line('a', 1), line('b', 2)], total: 2 }
  expect(withLines(page, [])).toBe(page)
  expect(withLines(page, [line('b', 3), line('x', 4)])).toEqual({
    rows: [line('a', 1), line('b', 3)],
    total: 2,
  })
})

test('reading goes on after the newest check', () => {
  const checks = ['2026-01-01T00:00:01.000Z', null, '2026-01-01T00:00:09.000Z']
  expect(newestCheck(checks.map((last_check) => ({ last_check })))).toBe(checks[2])
  expect(newestCheck([{ last_check: null }])).toBeUndefined()
})

test('counts of states are added up under the names of the filter', () => {
  const counts = countsByName([
    { lifecycle: 'finished', state: 'failure', count: 2 },
    { lifecycle: 'terminated', state: 'timeout', count: 1 },
    { lifecycle: 'assigned', state: 'in_progress', count: 4 },
  ])
  expect(counts).toMatchObject({ failure: 3, running: 4, success: 0 })
})
