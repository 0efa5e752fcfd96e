import { type Fields, isFields, listOf, tracesOf } from './figure'

export const MAX_ROWS = 100
const MAX_COLUMNS = 12
const MAX_TEXT = 200

export interface FigureTable {
  head: string[]
  rows: string[][]
  /** How many rows there are; only the first are in `rows`. */
  count: number
}

/** The values of a figure that cannot be drawn: a column for each list of its traces. */
export function tableOf(value: unknown): FigureTable {
  const figure = isFields(value) ? value : {}
  const traces = tracesOf(figure)
  const columns = traces.flatMap((trace, n) => columnsOf(trace, traces.length > 1 ? n : null))
  if (columns.length === 0) return recordsOf(figure)
  const first = columns.slice(0, MAX_COLUMNS)
  const count = Math.max(...first.map(({ values }) => values.length))
  const rows = Array.from({ length: Math.min(count, MAX_ROWS) }, (_, i) =>
    first.map(({ values }) => cellText(values[i])),
  )
  return { head: first.map(({ name }) => name), rows, count }
}

function columnsOf(trace: Fields, n: number | null) {
  const lists = Object.entries(trace).map(([key, item]) => ({ key, values: listOf(item) }))
  const title = n === null ? '' : `${cellText(trace.name) || n + 1} `
  return lists.flatMap(({ key, values }) => (values ? [{ name: `${title}${key}`, values }] : []))
}

/** A row for each item of `data`, a column for each of its members. */
function recordsOf(figure: Fields): FigureTable {
  const items = Array.isArray(figure.data) ? figure.data : []
  const records = items
    .slice(0, MAX_ROWS)
    .map((item): Fields => (isFields(item) ? item : { data: item }))
  const head = [...new Set(records.flatMap((record) => Object.keys(record)))].slice(0, MAX_COLUMNS)
  const rows = records.map((record) => head.map((key) => cellText(record[key])))
  return { head, rows, count: items.length }
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
