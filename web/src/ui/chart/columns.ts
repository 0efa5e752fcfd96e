import type { Chart } from '../../api/queries/monitoring/indicator'
import { dateTime } from '../../lib/format'

/** A chart as columns of numbers; `rows`: which of its values is at each place. */
export interface Columns {
  x: number[]
  lines: (number | null)[][]
  rows: number[]
  isTime: boolean
}

/** Bars of several series are side by side: each has its own places. */
export function columnsOf(chart: Chart): Columns {
  const isTime = chart.times.length > 0
  const length = Math.max(0, ...chart.series.map((series) => series.values.length))
  const at = isTime
    ? chart.times.map((time) => Date.parse(time) / 1000)
    : Array.from({ length }, (_, i) => i)
  const places = at.slice(0, length)
  const count = chart.series.length
  if (chart.kind !== 'bar' || count < 2)
    return {
      x: places,
      lines: chart.series.map((series) => places.map((_, i) => series.values[i] ?? null)),
      rows: places.map((_, i) => i),
      isTime,
    }
  const gap =
    places.length > 1 ? Math.min(...places.slice(1).map((place, i) => place - places[i]!)) : 1
  const width = (gap * 0.8) / count
  const spread = places.flatMap((place, row) =>
    chart.series.map((_, n) => ({ x: place + (n - (count - 1) / 2) * width, row, n })),
  )
  return {
    x: spread.map((point) => point.x),
    lines: chart.series.map((series, n) =>
      spread.map((place) => (place.n === n ? (series.values[place.row] ?? null) : null)),
    ),
    rows: spread.map((point) => point.row),
    isTime,
  }
}

/** The name of a place: its time, its label, or its number; nothing between two places. */
export function placeName(chart: Chart, place: number): string {
  if (!Number.isInteger(place) || place < 0) return ''
  const time = chart.times[place]
  if (time) return dateTime(time)
  return chart.labels.length ? (chart.labels[place] ?? '') : String(place + 1)
}
