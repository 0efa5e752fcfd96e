const HOUR = 3_600_000

/** What a chart shows first: of something new, a day would be all but empty. */
export function firstRange(created: string): '1h' | '24h' {
  return Date.now() - Date.parse(created) < 2 * HOUR ? '1h' : '24h'
}
