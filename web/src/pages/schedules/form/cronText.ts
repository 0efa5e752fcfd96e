import { useQuery } from '@tanstack/react-query'
import { prefs, usePrefs } from '../../../lib/prefs'

/** Whether a repetition is by the calendar (cron) or by elapsed time. */
export function isCron(text: string): boolean {
  const words = text.trim().split(/\s+/)
  return (
    text.trim().startsWith('@') ||
    ((words.length === 5 || words.length === 6) && !/^every$/i.test(words[0]!))
  )
}

/** A cron expression in plain words, in the reader's language; '' while unknown. */
export function useCronText(text: string): string {
  const { language, clock } = usePrefs()
  const { data = '' } = useQuery({
    queryKey: ['cron-words', text, language, clock],
    queryFn: () => words(text, language, clock !== '12'),
    enabled: isCron(text),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return isCron(text) ? data : text
}

async function words(text: string, locale: string, use24HourTimeFormat: boolean): Promise<string> {
  const { default: cronstrue } = await import('cronstrue')
  if (locale === 'es') await import('cronstrue/locales/es')
  try {
    return cronstrue.toString(text.trim(), { locale, use24HourTimeFormat, verbose: false })
  } catch {
    // The server accepts more expressions than this library; it decides.
    return ''
  }
}

const two = (n: number) => String(n).padStart(2, '0')

/** An instant as the clocks of a zone show it, for an input of date and time. */
export function clockIn(iso: string | null, zone: string): string {
  if (!iso) return ''
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(new Date(iso))
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? '00'
  return `${of('year')}-${of('month')}-${of('day')}T${two(Number(of('hour')))}:${of('minute')}`
}

/** "2026-03-29T03:00:00+02:00" as a reader writes it: weekday, date, time, offset. */
export function wallClockText(local: string): string {
  const { language, clock } = prefs()
  const [, wall = local, offset = ''] = /^(.*?)([+-]\d\d:\d\d|Z)?$/.exec(local) ?? []
  // The wall's own figures, whatever zone this browser is in.
  const at = new Date(`${wall}Z`)
  const text = new Intl.DateTimeFormat(language, {
    timeZone: 'UTC',
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(clock === 'auto' ? {} : { hour12: clock === '12' }),
  }).format(at)
  return `${text} ${offset === 'Z' ? '+00:00' : offset}`.trim()
}
