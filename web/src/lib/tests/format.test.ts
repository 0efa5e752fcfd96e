// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { duration, interval, sortNames } from '../format'

test('a configured time keeps its unit, a measured time has seconds', () => {
  const times = [0, 500, 45_000, 60_000, 90_000, 600_000, 5_400_000, 3_600_000, 86_400_000]
  expect(times.map(interval)).toEqual([
    '0 ms',
    '500 ms',
    '45 s',
    '1 min',
    '1 m 30 s',
    '10 min',
    '90 min',
    '1 h',
    '24 h',
  ])
  expect(duration(600_000)).toBe('10 m 00 s')
})

test('names are sorted without regard to case', () => {
  expect(sortNames(new Set(['Report', 'backup', 'Copy']))).toEqual(['backup', 'Copy', 'Report'])
})
