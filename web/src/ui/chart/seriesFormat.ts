import { bytes } from '../../lib/format'
import { number } from '../../lib/i18n'

/** Distinct by eye and in forced colours; each line also has its name below the chart. */
export const COLORS = [
  'var(--st-run)',
  'var(--st-ok)',
  'var(--st-wait)',
  'var(--st-warn)',
  'var(--st-stop)',
  'var(--st-fail)',
]

/** A value of the series with this name, with its unit. */
export function formatValue(name: string, value: number): string {
  if (name === 'bytes') return bytes(value)
  return number(value, Math.abs(value) < 100 ? 1 : 0)
}
