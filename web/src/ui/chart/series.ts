import type { Shape } from '../../api/client'
import type { Look } from '../../lib/state'

type Point = Shape<'HistoryPoint'>

export interface Line {
  /** The metric's name, such as ms, cpu or "disk /". */
  name: string
  values: (number | null)[]
}

export interface Series {
  /** Seconds since 1970, ascending. */
  times: number[]
  lines: Line[]
}

/** Where checks are missing, the line is interrupted. */
export function seriesOf(points: Point[], step: number, names: string[]): Series {
  const times: number[] = []
  const columns = names.map((): (number | null)[] => [])
  const longest = 2.5 * gapOf(points, step)
  let before = 0
  for (const point of points) {
    const at = Date.parse(point.at)
    if (before && longest && at - before > longest) {
      times.push((before + 1) / 1000)
      for (const column of columns) column.push(null)
    }
    times.push(at / 1000)
    names.forEach((name, i) => {
      columns[i]!.push(point.values[name]?.avg ?? null)
    })
    before = at
  }
  return { times, lines: names.map((name, i) => ({ name, values: columns[i]! })) }
}

/** The usual distance of two points; single checks (step 0) have one of their own. */
function gapOf(points: Point[], step: number): number {
  if (points.length < 3) return step
  const gaps = points.slice(1).map((point, i) => Date.parse(point.at) - Date.parse(points[i]!.at))
  return Math.max(step, gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)]!)
}

/** The metrics that occur, the main ones first. */
export function metricsOf(points: Point[]): string[] {
  const names = new Set(points.flatMap((point) => Object.keys(point.values)))
  const main = ['ms', 'cpu', 'mem', 'cache', 'days', 'count', 'bytes']
  const rest = [...names].filter((name) => !main.includes(name)).toSorted()
  return [...main.filter((name) => names.has(name)), ...rest]
}

export interface Cell {
  from: number
  to: number
  look: Look
  checks: number
  good: number
}

/** A time range as so many cells, each with how its checks went. */
export function cellsOf(points: Point[], from: number, to: number, count: number): Cell[] {
  const size = (to - from) / count
  const cells = Array.from({ length: count }, (_, i) => ({
    from: from + i * size,
    to: from + (i + 1) * size,
    look: 'stop' as Look,
    checks: 0,
    good: 0,
  }))
  for (const point of points) {
    const place = Math.floor((Date.parse(point.at) - from) / size)
    // The step that began just before the range belongs to its first cell.
    const cell = cells[Math.max(0, Math.min(count - 1, place))]
    if (!cell || !point.checks) continue
    cell.checks += point.checks
    cell.good += point.up * point.checks
  }
  for (const cell of cells) cell.look = lookOf(cell)
  return cells
}

function lookOf({ checks, good }: Cell): Look {
  if (checks === 0) return 'stop'
  const share = good / checks
  return share > 0.9999 ? 'ok' : share < 0.5 ? 'fail' : 'warn'
}
