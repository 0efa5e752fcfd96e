import { catalogue, number } from './i18n'
import { prefs } from './prefs'

const words = catalogue(
  {
    now: 'just now',
    ms: 'ms',
    s: 's',
    m: 'm',
    min: 'min',
    h: 'h',
    d: 'd',
    never: 'never',
    units: ['B', 'kB', 'MB', 'GB', 'TB'],
  },
  {
    now: 'ahora mismo',
    ms: 'ms',
    s: 's',
    m: 'min',
    min: 'min',
    h: 'h',
    d: 'd',
    never: 'nunca',
    units: ['B', 'kB', 'MB', 'GB', 'TB'],
  },
)

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** "3 minutes ago", "in 2 hours". */
export function ago(iso: string | null | undefined, now = Date.now()): string {
  if (!iso) return words.now().never
  const distance = Date.parse(iso) - now
  for (const [unit, size] of STEPS) {
    if (Math.abs(distance) >= size) return relative(Math.trunc(distance / size), unit)
  }
  return Math.abs(distance) < 10_000
    ? words.now().now
    : relative(Math.trunc(distance / 1000), 'second')
}

const relatives = new Map<string, Intl.RelativeTimeFormat>()

function relative(n: number, unit: Intl.RelativeTimeFormatUnit): string {
  const { language } = prefs()
  let format = relatives.get(language)
  if (!format) {
    format = new Intl.RelativeTimeFormat(language, { style: 'short', numeric: 'always' })
    relatives.set(language, format)
  }
  return format.format(n, unit)
}

/** "6 m 40 s": the two largest parts. */
export function duration(ms: number): string {
  const w = words.now()
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ${w.ms}`
  const s = Math.floor(ms / 1000)
  if (s < 60) return `${s} ${w.s}`
  if (s < 3600) return `${Math.floor(s / 60)} ${w.m} ${String(s % 60).padStart(2, '0')} ${w.s}`
  if (s < 86_400) return `${Math.floor(s / 3600)} ${w.h} ${Math.floor((s % 3600) / 60)} ${w.m}`
  return `${Math.floor(s / 86_400)} ${w.d} ${Math.floor((s % 86_400) / 3600)} ${w.h}`
}

/** A configured time, in its own unit: "10 min", "2 h". */
export function interval(ms: number): string {
  const w = words.now()
  if (ms > 0 && ms % 3_600_000 === 0) return `${number(ms / 3_600_000)} ${w.h}`
  if (ms > 0 && ms % 60_000 === 0) return `${number(ms / 60_000)} ${w.min}`
  return duration(ms)
}

/** A rough time in its largest unit: "3 d", "5 h", "12 min". */
export function largestUnit(ms: number): string {
  const w = words.now()
  if (ms >= 86_400_000) return `${number(Math.floor(ms / 86_400_000))} ${w.d}`
  if (ms >= 3_600_000) return `${number(Math.floor(ms / 3_600_000))} ${w.h}`
  return `${number(Math.max(1, Math.floor(ms / 60_000)))} ${w.min}`
}

/** How long from one moment to another, or until now. */
export function span(from: string, to?: string | null): string {
  return duration((to ? Date.parse(to) : Date.now()) - Date.parse(from))
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Date and time in the reader's zone. */
export function dateTime(
  at: string | number | Date,
  options: Intl.DateTimeFormatOptions = {},
): string {
  const p = prefs()
  const key = `${p.language}|${p.zone}|${p.clock}|${JSON.stringify(options)}`
  let format = formats.get(key)
  if (!format) {
    const base = Object.keys(options).length
      ? options
      : ({ dateStyle: 'medium', timeStyle: 'medium' } as const)
    const clock = p.clock === 'auto' ? {} : { hour12: p.clock === '12' }
    format = new Intl.DateTimeFormat(p.language, {
      ...base,
      ...clock,
      timeZone: p.zone || undefined,
    })
    formats.set(key, format)
  }
  return format.format(new Date(at))
}

export function time(at: string | number | Date): string {
  return dateTime(at, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
}

export function bytes(n: number): string {
  const units = words.now().units
  let step = 0
  let rest = n
  while (rest >= 1000 && step < units.length - 1) {
    rest /= 1000
    step += 1
  }
  return `${number(rest, step && rest < 100 ? 1 : 0)} ${units[step]}`
}

export function percent(share: number | null | undefined, digits = 2): string {
  return share == null ? '—' : `${number(share * 100, digits)} %`
}

/** In the order in which people look for them: without regard to case. */
export function sortNames(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => a.localeCompare(b))
}
