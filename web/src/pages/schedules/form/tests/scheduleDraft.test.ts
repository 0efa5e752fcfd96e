// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { clockIn, isCron, wallClockText } from '../cronText'
import { bodyOf, draftOf, firstDraft, whenOf } from '../scheduleDraft'

test('a cron expression is not taken for an interval', () => {
  expect(['0 7 * * *', '@daily', '*/5 0 7 * * mon'].map(isCron)).toEqual([true, true, true])
  expect(['every 15 minutes', '90s', ''].map(isCron)).toEqual([false, false, false])
})

test('times stand on the clocks of the zone, also over a change', () => {
  expect(clockIn('2026-03-29T01:00:00.000Z', 'Europe/Berlin')).toBe('2026-03-29T03:00')
  expect(wallClockText('2026-03-29T03:00:00+02:00')).toMatch(/29.*03:00.*\+02:00/)
})

test('a date that has passed is not sent again with another change', () => {
  const before = { ...firstDraft('UTC'), date: '2020-01-01T00:00' }
  const body = bodyOf({ ...before, overlap: 'queue' }, before)
  expect('runDate' in body).toBe(false)
  expect(bodyOf(before).runDate).toBe('2020-01-01T00:00')
  expect(whenOf({ ...before, mode: 'once' }).repeatEvery).toBeNull()
  expect(draftOf({ ...before, repeatEvery: '2h', runDate: null } as never).mode).toBe('every')
})
