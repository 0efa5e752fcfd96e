import type { Query } from '@tanstack/react-query'

/** Reads that follow events at once; further ones wait their turn. */
const BURST = 2
/** With fewer monitors or hosts than this, states change seldom and reads are small. */
const MANY = 30
const FEW_MS = 5_000

/** The time between reads of a list, by the number of its records. */
export function paceMs(total: number | null | undefined, ms: number): number {
  return (total ?? 0) > MANY ? ms : FEW_MS
}

type PacedQuery = Pick<Query, 'meta' | 'queryHash' | 'isActive'> & { state: { data: unknown } }

/**
 * How often events may cause a query to be read, so that a page that is only watched stays small
 * however often states change: `meta.paceMs` gives the time between reads after the first ones,
 * from the data that were read last.
 */
export class Pace {
  /** The time that each query may still spend on reads, and when that was counted. */
  private readonly credits = new Map<string, { ms: number; at: number }>()

  /** Milliseconds until the query may be read; 0: now, and it counts as read. */
  delay(query: PacedQuery): number {
    const pace = query.meta?.paceMs as ((data: unknown) => number) | undefined
    // A query that no page shows is only marked, which costs nothing.
    if (!pace || !query.isActive()) return 0
    const every = pace(query.state.data)
    const at = Date.now()
    const old = this.credits.get(query.queryHash)
    const ms = old ? Math.min(BURST * every, old.ms + at - old.at) : BURST * every
    const wait = Math.max(0, every - ms)
    this.credits.set(query.queryHash, { ms: wait ? ms : ms - every, at })
    return wait
  }
}
