import { describe, expect, it } from 'vitest'
import type { IndicatorLine } from '../../../api/queries/monitoring/indicator'
import { bySeverity, checkLooks, displayValue, shorterPeriod, shortText, uptime } from '../display'

describe('rows', () => {
  it('reads the letters of a strip', () => {
    expect(checkLooks('nfm-')).toEqual(['ok', 'fail', 'warn', 'stop'])
  })

  it('never rounds a failure away', () => {
    expect(uptime(99.999)).toBe('99.99 %')
    expect(uptime(100)).toBe('100 %')
    expect(uptime(null)).toBe('—')
  })

  it('separates the thousands of a counter, as its tile does', () => {
    const counter = { type: 'counter', value: 1234567, gist: '' } as IndicatorLine
    expect(shortText(counter)).toBe('1,234,567')
    expect(shortText({ ...counter, type: 'text', value: '1234567' })).toBe('1234567')
  })

  it('shows no old value of a monitor that is silent', () => {
    const line = { value: 3, unit: 'ms', metric: 'ms', state: 'updates_stopped' }
    expect(displayValue(line)).toBeNull()
    expect(displayValue({ ...line, state: 'normal' })).toEqual({ text: '3', unit: 'ms' })
  })

  it('puts sticky tiles first, then the worst, then by title', () => {
    const tile = (title: string, more: Partial<IndicatorLine>) =>
      ({
        title,
        state: 'normal',
        severity: 'HIGH',
        sticky: false,
        order: 0,
        ...more,
      }) as IndicatorLine
    const tiles = [
      tile('b', {}),
      tile('a', {}),
      tile('low', { state: 'failure', severity: 'LOW' }),
      tile('high', { state: 'failure' }),
      tile('sticky', { sticky: true }),
    ]
    expect(tiles.toSorted(bySeverity).map(({ title }) => title)).toEqual([
      'sticky',
      'high',
      'low',
      'a',
      'b',
    ])
  })
})

describe('the uptime of 30 days', () => {
  const now = Date.parse('2026-11-17T10:00:00Z')

  it.each([
    ['2026-11-17T09:48:00Z', '12 min'],
    ['2026-11-17T05:00:00Z', '5 h'],
    ['2026-10-19T10:00:00Z', '29 d'],
  ])('names the age of a monitor of %s', (created, age) => {
    expect(shorterPeriod(created, now)).toBe(age)
  })

  it('needs no note on an older monitor', () => {
    expect(shorterPeriod('2026-10-18T10:00:00Z', now)).toBeNull()
  })
})
