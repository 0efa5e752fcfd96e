import { openStyle, plainText } from '../lines/ansi'
import {
  BLOCK,
  type FetchLines,
  type Gap,
  MAX_BLOCKS,
  MAX_LINE_LENGTH,
  type RowLines,
} from './logBlocks'

export type Status = 'loading' | 'live' | 'reconnecting' | 'paused' | 'ended' | 'failed'

export interface LogEnd {
  bytes: number
  kept: number
  complete: boolean
  sha256: string
}

/**
 * The lines of one attempt's output, outside of React: listeners are notified once per frame,
 * however many lines arrive. Rows count from 0; they are lines, and one row for each gap.
 */
export class LogStore implements RowLines {
  status: Status = 'loading'
  ending: LogEnd | null = null
  attempt = 0
  gaps: Gap[] = []
  /** Increases with every change. */
  version = 0
  private blocks = new Map<number, string[]>()
  /** Colours that are open where a block begins. */
  private carries: string[] = ['']
  private full = 0
  private tail: string[] = []
  private tailLength = 0
  /** The unfinished line ends in a carriage return: the next text overwrites it. */
  private isReturned = false
  private carry = ''
  private coming = new Set<number>()
  private listeners = new Set<() => void>()
  private frame = 0

  constructor(private readonly fetch: FetchLines) {}

  /** So many rows, with the unfinished one. */
  get rows(): number {
    return this.full + (this.tailLength > 0 ? 1 : 0)
  }

  /** The number of the last line. */
  get lines(): number {
    return this.rows ? (this.lineOf(this.rows - 1) ?? 0) : 0
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  look = (): number => this.version

  setStatus(change: Partial<Pick<LogStore, 'status' | 'ending' | 'attempt'>>): void {
    Object.assign(this, change)
    this.notify()
  }

  /** Another attempt: the previous output belongs to the earlier one. */
  clear(attempt: number): void {
    this.blocks.clear()
    this.isReturned = false
    this.drop()
    Object.assign(this, { full: 0, gaps: [], carries: [''], carry: '', ending: null, attempt })
    this.notify()
  }

  append(text: string): void {
    const parts = text.split('\n')
    const last = parts.pop()!
    for (const part of parts) {
      this.grow(part)
      this.finish()
    }
    this.grow(last)
    this.notify()
  }

  cut(gap: { from: number; to: number; line: number }): void {
    if (this.tailLength) this.finish()
    this.gaps.push({ from: gap.from, to: gap.to, line: gap.line + 1, row: this.full })
    this.push('')
    this.notify()
  }

  /** A row's text with its codes; null while it has to be fetched. */
  text(row: number): string | null {
    if (row >= this.full) return this.carry + this.tail.join('')
    return this.blocks.get(Math.floor(row / BLOCK))?.[row % BLOCK] ?? null
  }

  /** A row's text as a reader sees it; nothing while it has to be fetched. */
  plain(row: number): string {
    return plainText(this.text(row) ?? '')
  }

  gapAt(row: number): Gap | undefined {
    return this.gaps.find((gap) => gap.row === row)
  }

  lineOf(row: number): number | null {
    let before: Gap | undefined
    for (const gap of this.gaps) {
      if (gap.row === row) return null
      if (gap.row < row) before = gap
    }
    return before ? before.line + (row - before.row - 1) : row + 1
  }

  /** The row of a line; of one that is missing, the gap's. */
  rowOf(line: number): number {
    let row = line - 1
    for (const gap of this.gaps) {
      if (row < gap.row) break
      row = Math.max(gap.row, gap.row + 1 + line - gap.line)
    }
    return Math.min(Math.max(0, row), Math.max(0, this.rows - 1))
  }

  /** Rows in view: their blocks are not dropped, and loaded again if they were. */
  want(first: number, last: number): void {
    for (let n = Math.floor(first / BLOCK); n <= Math.floor(last / BLOCK); n++) {
      const block = this.blocks.get(n)
      if (block) {
        this.blocks.delete(n)
        this.blocks.set(n, block)
      } else if (n * BLOCK < this.full) void this.bring(n)
    }
  }

  close(): void {
    cancelAnimationFrame(this.frame)
    this.listeners.clear()
  }

  private grow(part: string): void {
    let rest = part.replace(/\r+$/, '')
    const isReturned = rest.length < part.length
    if (!rest) {
      this.isReturned ||= isReturned
      return
    }
    if (this.isReturned) this.drop()
    const back = rest.lastIndexOf('\r')
    if (back >= 0) {
      // The last state of a progress line counts; its colours continue.
      this.carry = openStyle(this.tail.join('') + rest.slice(0, back), this.carry)
      this.drop()
      rest = rest.slice(back + 1)
    }
    this.isReturned = isReturned
    const room = MAX_LINE_LENGTH - this.tailLength
    if (room > 0) this.tail.push(rest.slice(0, room))
    this.tailLength += rest.length
  }

  private drop(): void {
    if (this.isReturned) this.carry = openStyle(this.tail.join(''), this.carry)
    this.tail = []
    this.tailLength = 0
    this.isReturned = false
  }

  private finish(): void {
    const text = this.tail.join('')
    this.isReturned = false
    this.drop()
    const open = this.carry
    this.carry = openStyle(text, open)
    this.push(open + text)
  }

  private push(line: string): void {
    const n = Math.floor(this.full / BLOCK)
    let block = this.blocks.get(n)
    if (!block) {
      block = []
      this.blocks.set(n, block)
      this.evict(n)
    }
    block.push(line)
    this.full += 1
    if (this.full % BLOCK === 0) this.carries[n + 1] = this.carry
  }

  private evict(newest: number): void {
    for (const n of this.blocks.keys()) {
      if (this.blocks.size <= MAX_BLOCKS) return
      if (n < newest - 1) this.blocks.delete(n)
    }
  }

  private async bring(n: number): Promise<void> {
    if (this.coming.has(n)) return
    this.coming.add(n)
    try {
      const { loadEarlier: readBack } = await import('./loadEarlier')
      const count = Math.min(BLOCK, this.full - n * BLOCK)
      const place = { first: n * BLOCK, count, carry: this.carries[n] ?? '' }
      this.blocks.set(n, await readBack(this, this.fetch, place))
      this.evict(n)
    } catch {
      // Requested again when the rows are viewed again.
    } finally {
      this.coming.delete(n)
      this.notify()
    }
  }

  private notify(): void {
    this.version += 1
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0
      for (const listener of this.listeners) listener()
    })
  }
}
