/** Lines are stored in blocks. A tab drops whole blocks when it has too many, and loads them again
 * when they are scrolled into view. */
export const BLOCK = 1_000
export const MAX_BLOCKS = 200
/** A line without an end is stored up to this length. */
export const MAX_LINE_LENGTH = 1 << 20

/** Missing output: bytes `from` to `to`, drawn as a row of its own. */
export interface Gap {
  row: number
  from: number
  to: number
  /** The number of the line in the row after it. */
  line: number
}

export type FetchLines = (
  line: number,
  count: number,
) => Promise<{ first: number; lines: string[] }>

/** Which line each row shows, and where lines are missing. */
export interface RowLines {
  readonly gaps: Gap[]
  lineOf(row: number): number | null
}
