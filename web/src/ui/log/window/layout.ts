/** Characters of a line that are drawn; the rest is one click away. */
export const MAX_DRAWN = 4_000

/** A line of the screen: a row of the store, or a part of one when lines are wrapped. */
export interface Piece {
  row: number
  from: number
  to: number
}

/** The positions of rows on the screen. */
export interface RowLayout {
  readonly total: number
  /** The piece at a line of the screen. */
  at(line: number): Piece
  /** The first line of the screen of a row. */
  top(row: number): number
}
