import { expect, it } from 'vitest'
import { part, performanceScore } from '../prove/score'

it('a part of the score is 0.9 at its good value, 0.5 at its median, and 1 at 0', () => {
  const curve = { p10: 1_200, median: 2_400 }
  expect(part(1_200, curve)).toBeCloseTo(0.9, 4)
  expect(part(2_400, curve)).toBeCloseTo(0.5, 4)
  expect(part(0, curve)).toBe(1)
})

it('the score falls with each part', () => {
  const good = { fcp: 300, lcp: 500, tbt: 0, cls: 0 }
  expect(performanceScore(good)).toBeGreaterThan(99)
  expect(performanceScore({ ...good, tbt: 600 })).toBeLessThan(80)
  expect(performanceScore({ ...good, cls: 0.5 })).toBeLessThan(80)
})
