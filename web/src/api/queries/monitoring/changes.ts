import type { RowsWithTotal } from '../../client'

/** Rows of a page, and when all of it was read. */
export type ReadPage<Line> = RowsWithTotal<Line[]> & { readAt: number }

// Then the page is read again, in case a change had no event.
const WHOLE_MS = 10 * 60_000
// A check may be stored after one that was made later.
const OVERLAP_MS = 5_000
/** If there are more rows, the page is read: their ids would make the address too long. */
export const MAX_IDS = 50

export function isDue(page: { readAt: number } | undefined): boolean {
  return !page || Date.now() - page.readAt > WHOLE_MS
}

/** From when on changes are read: a little before the newest that is known. */
export function sinceNewest(times: (string | null | undefined)[]): string {
  const newest = times.reduce<string>((max, at) => (at && at > max ? at : max), '')
  return new Date(newest ? Date.parse(newest) - OVERLAP_MS : 0).toISOString()
}

interface Source<Line, Change> {
  /** Whether the line has to be read because the change is incomplete. */
  isStale: (line: Line, change: Change) => boolean
  readLines: (ids: string[]) => Promise<Line[]>
  merge: (line: Line, change: Change) => Line
}

/** The lines by id, with the changes. Null: so many are new or stale that the whole page has to be
 * read. */
export async function mergeChanges<Line extends { id: string }, Change extends { id: string }>(
  page: ReadPage<Line>,
  changes: Change[],
  { isStale, readLines, merge }: Source<Line, Change>,
): Promise<Map<string, Line> | null> {
  const lines = new Map(page.rows.map((line) => [line.id, line]))
  const needsLine = (change: Change) => {
    const line = lines.get(change.id)
    return !line || isStale(line, change)
  }
  const ids = changes.filter(needsLine).map(({ id }) => id)
  if (ids.length > MAX_IDS) return null
  for (const line of ids.length ? await readLines(ids) : []) lines.set(line.id, line)
  for (const change of changes) {
    const line = lines.get(change.id)
    if (line) lines.set(change.id, merge(line, change))
  }
  return lines
}
