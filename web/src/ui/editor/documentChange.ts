/**
 * The one change that leads from one text to another; equal parts at both ends are kept, and so is
 * a cursor in them.
 */
export function changeTo(
  before: string,
  after: string,
): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from += 1
  let tail = 0
  while (tail < most - from && before[before.length - 1 - tail] === after[after.length - 1 - tail])
    tail += 1
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) }
}
