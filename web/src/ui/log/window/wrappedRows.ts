import { BLOCK } from '../data/logBlocks'
import type { LogStore } from '../data/logStore'
import { MAX_DRAWN, type Piece, type RowLayout } from './layout'

interface Heights {
  /** Where each row of the block begins, counted in lines of the screen. */
  starts: Uint32Array
  rows: number
  isHere: boolean
  version: number
}

/** The positions of rows that may be several lines of the screen high. */
export class WrappedRows implements RowLayout {
  private measured = new Map<number, Heights>()

  constructor(
    private readonly store: LogStore,
    readonly columns: number,
  ) {}

  get total(): number {
    let sum = 0
    for (let n = 0; n * BLOCK < this.store.rows; n++) sum += this.height(n)
    return sum
  }

  at(line: number): Piece {
    let rest = line
    let n = 0
    while ((n + 1) * BLOCK < this.store.rows && rest >= this.height(n)) {
      rest -= this.height(n)
      n += 1
    }
    const { starts, rows } = this.heights(n)
    let row = 0
    let high = rows - 1
    while (row < high) {
      const middle = Math.ceil((row + high) / 2)
      if (starts[middle]! <= rest) row = middle
      else high = middle - 1
    }
    const part = rest - starts[row]!
    const cuts = lineBreaks(this.drawnText(n * BLOCK + row), this.columns)
    return { row: n * BLOCK + row, from: cuts[part] ?? 0, to: cuts[part + 1] ?? MAX_DRAWN }
  }

  top(row: number): number {
    const block = Math.floor(row / BLOCK)
    let sum = 0
    for (let n = 0; n < block; n++) sum += this.height(n)
    return sum + (this.heights(block).starts[row % BLOCK] ?? 0)
  }

  private height(n: number): number {
    const { starts, rows } = this.heights(n)
    return starts[rows]!
  }

  private heights(n: number): Heights {
    const rows = Math.min(BLOCK, this.store.rows - n * BLOCK)
    const isHere = this.store.text(n * BLOCK) !== null
    const isLast = (n + 1) * BLOCK >= this.store.rows
    const block = this.measured.get(n)
    if (block?.rows === rows) {
      const isSame = block.isHere === isHere && (!isLast || block.version === this.store.version)
      // A block that went keeps the heights it had: the page must not jump.
      if (isSame || !isHere) return block
    }
    // Rows before the last never change: only new rows are measured.
    const unchanged = isHere && block?.isHere ? Math.max(0, Math.min(block.rows, rows) - 1) : 0
    const starts = new Uint32Array(rows + 1)
    if (unchanged) starts.set(block!.starts.subarray(0, unchanged + 1))
    for (let row = unchanged; row < rows; row++)
      starts[row + 1] =
        starts[row]! + lineBreaks(this.drawnText(n * BLOCK + row), this.columns).length
    const heights = { starts, rows, isHere, version: this.store.version }
    this.measured.set(n, heights)
    return heights
  }

  private drawnText(row: number): string {
    return this.store.plain(row).slice(0, MAX_DRAWN)
  }
}

// Drawn two columns wide by every monospaced font that has them.
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

const NARROW = /^[ -~]*$/

/** Where a text has to be broken so that each part fits; the first is always 0. */
export function lineBreaks(text: string, columns: number): number[] {
  const cuts = [0]
  if (NARROW.test(text)) {
    for (let at = columns; at < text.length; at += columns) cuts.push(at)
    return cuts
  }
  let used = 0
  let at = 0
  for (const sign of text) {
    const width = sign === '\t' ? 8 - (used % 8) : WIDE.test(sign) ? 2 : 1
    if (used + width > columns) {
      cuts.push(at)
      used = 0
    }
    used += width
    at += sign.length
  }
  return cuts
}
