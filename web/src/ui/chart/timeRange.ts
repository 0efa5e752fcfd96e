const HOUR = 3_600_000

/** The ranges that a chart can show; the address of a page holds the chosen one. */
export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

export interface RangeSearch {
  range?: Range
}

export function validRange(search: Record<string, unknown>): RangeSearch {
  const range = RANGES.find((name) => name === search.range)
  return range ? { range } : {}
}

/** The first range of a chart: for a new object, a day would be nearly empty. */
export function firstRange(created: string): '1h' | '24h' {
  return Date.now() - Date.parse(created) < 2 * HOUR ? '1h' : '24h'
}
