import type { IndicatorLine } from '../../api/queries/monitoring/indicator'
import type { MonitorLine } from '../../api/queries/monitoring/monitor'
import { bytes, largestUnit } from '../../lib/format'
import { number } from '../../lib/i18n'
import { byWorst, type Look, monitorLook } from '../../lib/state'
import { useMonitoringText } from './text'

const LETTERS: Record<string, Look> = { n: 'ok', f: 'fail', m: 'warn', '-': 'stop' }

/** The letters of a strip as looks, oldest first. */
export function checkLooks(letters: string): Look[] {
  return [...letters].map((letter) => LETTERS[letter] ?? 'stop')
}

export interface DisplayValue {
  text: string
  unit: string
}

/** The number that represents a monitor. */
export function displayValue(
  line: Pick<MonitorLine, 'value' | 'unit' | 'metric' | 'state'>,
): DisplayValue | null {
  if (line.value == null || line.state === 'unknown' || line.state === 'updates_stopped')
    return null
  if (line.unit === 'B') {
    const [text = '', unit = ''] = bytes(line.value).split(' ')
    return { text, unit }
  }
  const digits = line.value >= 100 ? 0 : line.value >= 10 ? 1 : 2
  const unit = line.unit === '%' ? `% ${line.metric ?? ''}` : line.unit
  return { text: number(line.value, digits), unit: useMonitoringText.now().units[unit] ?? unit }
}

/** Colour of a trend: calm blue, or that of the trouble. */
export function trendColor(look: Look): string {
  return `var(--st-${look === 'ok' ? 'run' : look})`
}

/** Values without the gaps; a strip of nothing is no trend. */
export function knownValues(values: (number | null)[]): number[] {
  return values.filter((value): value is number => value !== null)
}

const LARGE = new Set(['chart', 'html', 'file'])

/** Whether the value of an indicator takes more space than a line. */
export function isLarge({ type }: Pick<IndicatorLine, 'type'>): boolean {
  return LARGE.has(type)
}

const NUMERIC = new Set(['counter', 'progress'])

/** A value in one line. The stream contains small values, which are newer than the summary. */
export function shortText(indicator: Pick<IndicatorLine, 'type' | 'value' | 'gist'>): string {
  if (NUMERIC.has(indicator.type)) return number(Number(indicator.value), 2)
  return String(isLarge(indicator) ? indicator.gist : indicator.value)
}

/** Sticky ones first, then the worst, then as ordered, then by title. */
export function bySeverity(a: IndicatorLine, b: IndicatorLine): number {
  return (
    Number(b.sticky) - Number(a.sticky) ||
    byWorst(monitorLook(a), monitorLook(b)) ||
    a.order - b.order ||
    a.title.localeCompare(b.title)
  )
}

/** Uptime as people read it: 100, 99.98, 98.7. */
export function uptime(share: number | null): string {
  if (share === null) return '—'
  // 99.996 is not 100: a failure must not be rounded away.
  const cut = Math.floor(share * 100) / 100
  return `${number(cut, 2)} %`
}

const MONTH_MS = 30 * 86_400_000

/** How long a monitor has existed, where that is less than the 30 days that its uptime claims. */
export function shorterPeriod(creationDate: string, now = Date.now()): string | null {
  const age = now - Date.parse(creationDate)
  return age < MONTH_MS ? largestUnit(age) : null
}
