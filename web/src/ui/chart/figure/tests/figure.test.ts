import { describe, expect, test } from 'vitest'
import { figureOf } from '../figure'
import { MAX_ROWS, tableOf } from '../figureTable'
import { arcOf, mergeSmall } from '../pie'

const PLAIN = { kind: 'line', unit: '', labels: [], times: [] }
const chartOf = (value: unknown) => {
  const figure = figureOf(value)
  return figure.kind === 'chart' ? figure.chart : figure.kind
}

describe('figures of Plotly', () => {
  test('the native chart format is drawn unchanged', () => {
    const chart = { ...PLAIN, series: [{ name: 'a', values: [1] }] }
    expect(figureOf(chart)).toEqual({ kind: 'chart', chart })
  })

  test('bars have the names of their places', () => {
    const data = [{ x: ['Mon', 'Tue'], y: [3, null], type: 'bar', name: 'shop' }]
    const series = [{ name: 'shop', values: [3, null] }]
    expect(chartOf({ data, layout: { title: 'x' } })).toEqual({
      ...PLAIN,
      kind: 'bar',
      labels: ['Mon', 'Tue'],
      series,
    })
    const flat = [{ y: ['Mon', 'Tue'], x: [3, null], orientation: 'h', name: 'shop' }]
    expect(chartOf({ type: 'bar', data: flat })).toMatchObject({ labels: ['Mon', 'Tue'], series })
  })

  test('lines over time are sorted and share their places', () => {
    const data = [
      { x: ['2026-01-02', '2026-01-01'], y: [2, 1] },
      { x: ['2026-01-02', '2026-01-03'], y: [5, 6], mode: 'lines+markers', name: 'b' },
    ]
    expect(chartOf({ data })).toMatchObject({
      times: ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'],
      series: [
        { name: '1', values: [1, 2, null] },
        { name: 'b', values: [null, 5, 6] },
      ],
    })
  })

  test.each([
    ['numbers', { type: 'line', data: [1, 2, 3] }, []],
    [
      'points',
      { type: 'line', data: [1, 2, 3].map((y) => ({ x: `p${y}`, y })) },
      ['p1', 'p2', 'p3'],
    ],
    ['a trace without x', { data: [{ y: [1, 2, 3] }] }, []],
    ['even numbers', { data: [{ x: [10, 20, 30], y: [1, 2, 3] }] }, ['10', '20', '30']],
    ['a compact array', { data: [{ y: { dtype: 'i1', bdata: 'AQID' } }] }, []],
  ])('%s are a line', (_, value, labels) => {
    expect(chartOf(value)).toMatchObject({ kind: 'line', labels, series: [{ values: [1, 2, 3] }] })
  })

  test('a pie has slices', () => {
    const data = [{ type: 'pie', labels: ['a', 'b'], values: [1, 3] }]
    const slices = [
      { name: 'a', value: 1 },
      { name: 'b', value: 3 },
    ]
    expect(figureOf({ data })).toEqual({ kind: 'pie', slices })
  })

  test.each([
    ['another type', { data: [{ type: 'heatmap', z: [[1]] }] }],
    ['lines and bars', { data: [{ y: [1] }, { type: 'bar', y: [1] }] }],
    ['a cloud of points', { data: [{ x: [1, 2], y: [1, 2], mode: 'markers' }] }],
    ['uneven numbers', { data: [{ x: [1, 2, 9], y: [1, 2, 3] }] }],
    ['two values at one place', { data: [{ x: ['a', 'a'], y: [1, 2] }] }],
    ['lists of different length', { data: [{ x: ['a'], y: [1, 2] }] }],
    ['texts as values', { data: [{ y: ['a'] }] }],
    ['a negative slice', { data: [{ type: 'pie', values: [1, -1] }] }],
    ['slices beyond all numbers', { data: [{ type: 'pie', values: [1e308, 1e308] }] }],
    ['too many traces', { data: Array.from({ length: 500 }, () => ({ y: [1] })) }],
    ['a wrong compact array', { data: [{ y: { dtype: 'f8', bdata: 'AQID' } }] }],
    ['a compact array that is no base64', { data: [{ y: { dtype: 'i1', bdata: '*' } }] }],
    ['an unknown compact array', { data: [{ y: { dtype: 'toString', bdata: 'AQID' } }] }],
    ['nothing', { data: [] }],
    ['a mixture', { data: [1, { y: [1] }, null] }],
    ['a text', 'x'],
  ])('%s is shown as a table', (_, value) => {
    expect(figureOf(value)).toEqual({ kind: 'table' })
    expect(() => tableOf(value)).not.toThrow()
  })
})

describe('the table of a figure', () => {
  test('each list of a trace is a column', () => {
    const data = [
      { type: 'funnel', name: 'now', x: [1, 2], y: ['a'] },
      { type: 'funnel', x: [{ a: 1 }] },
    ]
    expect(tableOf({ data })).toEqual({
      head: ['now x', 'now y', '2 x'],
      rows: [
        ['1', 'a', '{"a":1}'],
        ['2', '', ''],
      ],
      count: 2,
    })
  })

  test('records are rows', () => {
    const data = [{ city: 'Rosario', size: 1 }, { size: 2 }, 5]
    expect(tableOf({ data })).toEqual({
      head: ['city', 'size', 'data'],
      rows: [
        ['Rosario', '1', ''],
        ['', '2', ''],
        ['', '', '5'],
      ],
      count: 3,
    })
  })

  test('a long list is cut, and so is a long text', () => {
    const table = tableOf({ data: [{ type: 'x', z: Array(1000).fill('y'.repeat(1000)) }] })
    expect([table.rows.length, table.count]).toEqual([MAX_ROWS, 1000])
    expect(table.rows[0]![0]!.length).toBeLessThan(250)
  })
})

describe('a pie', () => {
  test('small slices are merged', () => {
    const slices = [1, 9, 2, 8].map((value) => ({ name: String(value), value }))
    expect(mergeSmall(slices, 3, 'others')).toEqual([
      { name: '9', value: 9 },
      { name: '8', value: 8 },
      { name: 'others', value: 3 },
    ])
    expect(mergeSmall([{ name: 'a', value: 0 }, ...slices], 4, 'others')).toEqual(slices)
  })

  test('a slice is an arc, and a full pie is almost a circle', () => {
    expect(arcOf(0, 0.25)).toBe('M0 0L0 -1A1 1 0 0 1 1 0Z')
    expect(arcOf(0, 1)).toContain('A1 1 0 1 1')
    expect(arcOf(0, 1)).not.toContain('1 1 0 -1Z')
  })
})
