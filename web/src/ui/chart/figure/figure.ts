import type { Chart } from '../../../api/queries/monitoring/indicator'
import { bytesOf } from './typedArrays'

/** More series cannot be distinguished in a chart, and cost too much to align. */
const MAX_SERIES = 24
const LINES = new Set(['scatter', 'scattergl', 'line', 'lines'])
const DATE = /^\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?$/

export interface Slice {
  name: string
  value: number
}

/** How the console draws a chart value; `table`: only its values. */
export type Figure =
  | { kind: 'chart'; chart: Chart }
  | { kind: 'pie'; slices: Slice[] }
  | { kind: 'table' }

export type Fields = Record<string, unknown>

interface Trace {
  kind: 'line' | 'bar'
  name: string
  /** Null: the values are counted. */
  x: unknown[] | null
  y: (number | null)[]
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value)

/** A chart of our own format, or a figure of Plotly, from the value of an indicator. */
export function figureOf(value: unknown): Figure {
  if (!isFields(value)) return { kind: 'table' }
  if (Array.isArray(value.series)) return { kind: 'chart', chart: value as unknown as Chart }
  const traces = tracesOf(value)
  const slices = traces.length === 1 ? slicesOf(traces[0]!) : null
  if (slices) return { kind: 'pie', slices }
  const chart = chartOf(traces)
  return chart ? { kind: 'chart', chart } : { kind: 'table' }
}

/** The traces of a figure. Some scripts send numbers or points instead. */
export function tracesOf(figure: Fields): Fields[] {
  const data = Array.isArray(figure.data) ? figure.data : []
  const type = figure.type
  if (data.length && data.every(isNumber)) return [{ type, y: data }]
  const objects = data.filter(isFields)
  if (objects.length !== data.length) return []
  const isPoints = objects.length > 0 && objects.every((item) => isNumber(item.y) && 'x' in item)
  if (isPoints) return [{ type, x: objects.map(({ x }) => x), y: objects.map(({ y }) => y) }]
  return objects.map((trace) => ({ ...trace, type: trace.type ?? type ?? 'scatter' }))
}

/** An array, also in the compact form that Plotly for Python writes. */
export function listOf(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  return isFields(value) ? bytesOf(value) : null
}

function slicesOf(trace: Fields): Slice[] | null {
  if (trace.type !== 'pie') return null
  const values = listOf(trace.values ?? trace.y)
  const names = listOf(trace.labels ?? trace.x) ?? []
  if (!values?.every((value) => isNumber(value) && value >= 0)) return null
  const slices = values.map((value, i) => ({
    name: String(names[i] ?? i + 1),
    value: value as number,
  }))
  const sum = slices.reduce((total, slice) => total + slice.value, 0)
  return sum > 0 && Number.isFinite(sum) ? slices : null
}

/** Lines or bars as a chart of our own format; null if they are something else. */
function chartOf(sources: Fields[]): Chart | null {
  if (sources.length === 0 || sources.length > MAX_SERIES) return null
  const traces = sources.map(traceOf)
  if (!traces.every((trace) => trace !== null)) return null
  const [first] = traces
  if (!traces.every((trace) => trace.kind === first!.kind)) return null
  const named = traces.map((trace, i) => ({ ...trace, name: trace.name || String(i + 1) }))
  const plain = { kind: first!.kind, unit: '', labels: [], times: [] }
  if (named.every((trace) => trace.x === null))
    return { ...plain, series: named.map(({ name, y }) => ({ name, values: y })) }
  return align(plain, named)
}

function traceOf(trace: Fields): Trace | null {
  const isBar = trace.type === 'bar'
  if (!isBar && !LINES.has(String(trace.type))) return null
  // A cloud of points has no order.
  if (!isBar && String(trace.mode ?? 'lines').indexOf('lines') < 0) return null
  const isFlat = isBar && trace.orientation === 'h'
  const y = listOf(isFlat ? trace.x : trace.y)
  const x = listOf(isFlat ? trace.y : trace.x)
  if (!y?.every((value) => value === null || isNumber(value))) return null
  if (x !== null && x.length !== y.length) return null
  const kind = isBar ? 'bar' : 'line'
  return { kind, name: typeof trace.name === 'string' ? trace.name : '', x, y: y as Trace['y'] }
}

/** Every series at the same places: the values of all x axes together. */
function align(plain: Omit<Chart, 'series'>, traces: Trace[]): Chart | null {
  const columns = traces.map(({ x, y }) => x ?? y.map((_, i) => i + 1))
  const rows = columns.map((column, n) => {
    const values = traces[n]!.y
    return new Map(column.map((place, i) => [String(place), values[i] ?? null]))
  })
  // Two values at one place cannot be shown by a line or a bar.
  if (rows.some((row, n) => row.size !== columns[n]!.length)) return null
  const places = [...new Map(columns.flat().map((place) => [String(place), place])).values()]
  const axis = axisOf(places, plain.kind)
  if (!axis) return null
  const series = traces.map(({ name }, n) => ({
    name,
    values: axis.keys.map((key) => rows[n]!.get(key) ?? null),
  }))
  return { ...plain, [axis.kind]: axis.texts, series }
}

interface Axis {
  kind: 'times' | 'labels'
  keys: string[]
  texts: string[]
}

function axisOf(places: unknown[], kind: string): Axis | null {
  const keys = places.map(String)
  if (places.every((place) => typeof place === 'string' && DATE.test(place))) {
    const sorted = keys
      .map((key) => ({ key, at: Date.parse(key.replace(' ', 'T')) }))
      .sort((a, b) => a.at - b.at)
    if (sorted.some(({ at }) => Number.isNaN(at))) return null
    const texts = sorted.map(({ at }) => new Date(at).toISOString())
    return { kind: 'times', keys: sorted.map(({ key }) => key), texts }
  }
  if (places.every(isNumber)) {
    const sorted = [...places].sort((a, b) => a - b)
    // Labels are drawn at equal distances, which would distort a line.
    if (kind === 'line' && !isEven(sorted)) return null
    const texts = sorted.map(String)
    return { kind: 'labels', keys: texts, texts }
  }
  return { kind: 'labels', keys, texts: keys }
}

function isEven(sorted: number[]): boolean {
  if (sorted.length < 3) return true
  const step = (sorted.at(-1)! - sorted[0]!) / (sorted.length - 1)
  return sorted.every((place, i) => Math.abs(place - sorted[0]! - i * step) < step / 100)
}
