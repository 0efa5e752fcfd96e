import type { Shape } from '../../../api/client'

type StateLogEntry = Shape<'StateLogEntry'>

/** A state and how long it lasted; without an end it lasts. */
export interface Span extends StateLogEntry {
  until: string | null
}

/** Turns, newest first, as the spans that lie between them. */
export function spansOf(turns: StateLogEntry[]): Span[] {
  return turns.map((turn, n) => ({ ...turn, until: turns[n - 1]?.at ?? null }))
}
