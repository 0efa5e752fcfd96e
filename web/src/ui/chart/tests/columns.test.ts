import { describe, expect, test } from 'vitest'
import type { Chart } from '../../../api/queries/monitoring/indicator'
import { columnsOf, placeName } from '../columns'

function chart(more: Partial<Chart>): Chart {
  return { kind: 'line', unit: '', labels: [], times: [], series: [], ...more }
}

const SERIES = [
  { name: 'a', values: [1, 2] },
  { name: 'b', values: [3, null] },
]

describe('columns of a chart', () => {
  test('lines share their places', () => {
    const columns = columnsOf(chart({ kind: 'line', series: SERIES }))
    expect(columns).toEqual({
      x: [0, 1],
      lines: [
        [1, 2],
        [3, null],
      ],
      rows: [0, 1],
      isTime: false,
    })
  })

  test('moments are seconds', () => {
    const times = ['1970-01-01T00:00:10Z', '1970-01-01T00:00:20Z']
    expect(columnsOf(chart({ series: SERIES, times }))).toMatchObject({ x: [10, 20], isTime: true })
  })

  test('bars of two stand side by side and ascend', () => {
    const { x, lines, rows } = columnsOf(chart({ kind: 'bar', series: SERIES }))
    expect(x).toEqual(x.toSorted((a, b) => a - b))
    expect(x[0]).toBeCloseTo(-0.2)
    expect(rows).toEqual([0, 0, 1, 1])
    expect(lines).toEqual([
      [1, null, 2, null],
      [null, 3, null, null],
    ])
  })

  test('a shorter row has gaps, and no row is no place', () => {
    const series = [{ name: 'a', values: [1] }, SERIES[0]!]
    expect(columnsOf(chart({ series })).lines[0]).toEqual([1, null])
    expect(columnsOf(chart({ series: [] })).x).toEqual([])
  })

  test('a place is called by its label, else by its number', () => {
    expect(placeName(chart({ labels: ['x'] }), 0)).toBe('x')
    expect(placeName(chart({ labels: ['x'] }), 3)).toBe('')
    expect(placeName(chart({}), 3)).toBe('4')
    expect(placeName(chart({}), 0.5)).toBe('')
  })
})
