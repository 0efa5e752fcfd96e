import { describe, expect, it } from 'vitest'
import type { Shape } from '../../../api/client'
import { cellsOf, metricsOf, seriesOf } from '../series'

type Point = Shape<'HistoryPoint'>
const MINUTE = 60_000

function point(minute: number, up: number, ms?: number, message = ''): Point {
  const values = ms === undefined ? {} : { ms: { avg: ms, min: ms, max: ms } }
  return {
    at: new Date(minute * MINUTE).toISOString(),
    checks: 2,
    up,
    values: values as Point['values'],
    message,
  }
}

describe('series of a chart', () => {
  it('breaks the line where checks are missing', () => {
    const points = [0, 1, 2, 10].map((minute) => point(minute, 1, minute))
    const { times, lines } = seriesOf(points, MINUTE, ['ms'])
    expect(lines[0]!.values).toEqual([0, 1, 2, null, 10])
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('names the main metrics first', () => {
    const points = [{ ...point(0, 1), values: { 'disk /': {}, mem: {}, cpu: {} } }]
    expect(metricsOf(points as unknown as Point[])).toEqual(['cpu', 'mem', 'disk /'])
  })

  it('distinguishes good, mixed, failed and unknown cells', () => {
    const points = [point(0, 1), point(1, 0.5), point(2, 0)]
    const looks = cellsOf(points, 0, 4 * MINUTE, 4).map((cell) => cell.look)
    expect(looks).toEqual(['ok', 'warn', 'fail', 'stop'])
  })
})
