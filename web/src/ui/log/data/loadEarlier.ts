import { openStyle } from '../lines/ansi'
import { type FetchLines, MAX_LINE_LENGTH, type RowLines } from './logBlocks'

interface Place {
  /** The first of the rows, and how many. */
  first: number
  count: number
  /** Colours that are open where they begin. */
  carry: string
}

/** Rows that the tab let go, as they were. */
export async function loadEarlier(
  store: RowLines,
  fetch: FetchLines,
  place: Place,
): Promise<string[]> {
  let { carry } = place
  return (await texts(store, fetch, place)).map((line) => {
    const open = carry
    carry = openStyle(line, open)
    return open + terminalLine(line)
  })
}

/** The texts of the rows, gaps among them. */
async function texts(
  store: RowLines,
  fetch: FetchLines,
  { first, count }: Place,
): Promise<string[]> {
  const rows: string[] = Array(count).fill('')
  let row = 0
  while (row < count) {
    const line = store.lineOf(first + row)
    if (line === null) {
      row += 1
      continue
    }
    const until = store.gaps.find((gap) => gap.row > first + row)?.row ?? Infinity
    const most = Math.min(count - row, until - first - row)
    const page = await fetch(line, most)
    const skip = page.first - line
    for (let i = 0; i < page.lines.length && skip + i < most; i++)
      if (skip + i >= 0) rows[row + skip + i] = page.lines[i]!
    // The server returns fewer if lines are long, and none if they were deleted.
    row += page.lines.length ? Math.min(most, skip + page.lines.length) : most
  }
  return rows
}

/** A complete line as a terminal shows it: text after a carriage return overwrites the text before. */
export function terminalLine(line: string): string {
  const text = line.replace(/\r+$/, '')
  const back = text.lastIndexOf('\r')
  return (back < 0 ? text : text.slice(back + 1)).slice(0, MAX_LINE_LENGTH)
}
