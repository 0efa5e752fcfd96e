import { expect, test } from 'vitest'
import { firstRange } from '../timeRange'

test('a chart of something new shows an hour first, later a day', () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  expect(firstRange(ago(5))).toBe('1h')
  expect(firstRange(ago(119))).toBe('1h')
  expect(firstRange(ago(121))).toBe('24h')
})
