export interface Hit {
  line: number
  offset: number
}

/** The response of the server: `matches` counts the lines from the requested byte on. */
export interface Hits {
  matches: number
  lines: Hit[]
}

/** Some hits in a row; `first` is the number of the first among all, from 1. */
export interface Page {
  first: number
  lines: Hit[]
}

/** Asks for hits in lines that begin at a byte or behind it. */
export type HitQuery = (from: number) => Promise<Hits>

/** As many as the server names at once. */
export const MAX_HITS = 1000
const LOOK_BACK = 16_384

/** The hits behind those of a page; behind the last ones, none. */
export async function pageAfter(query: HitQuery, page: Page): Promise<Page | null> {
  const last = page.lines.at(-1)
  if (!last) return null
  const { lines } = await query(last.offset + 1)
  return lines.length ? { first: page.first + page.lines.length, lines } : null
}

/** The hits before those of a page. */
export async function pageBefore(query: HitQuery, page: Page): Promise<Page | null> {
  const first = page.lines[0]
  if (!first || page.first <= 1) return null
  const { lines } = await endingAt(query, first.offset)
  return lines.length ? { first: page.first - lines.length, lines } : null
}

/** The last hits of a log of so many bytes. */
export async function lastPage(
  query: HitQuery,
  matches: number,
  bytes: number,
): Promise<Page | null> {
  const { lines, behind } = await endingAt(query, bytes)
  return lines.length ? { first: matches - behind + 1, lines } : null
}

/**
 * The hits right before a byte, and how many there are from the first of them on. Looks at more
 * and more of the log before it until there is a match: logs can be long.
 */
async function endingAt(query: HitQuery, end: number): Promise<{ lines: Hit[]; behind: number }> {
  for (let size = LOOK_BACK; ; size *= 4) {
    const from = Math.max(0, end - size)
    let hits = await query(from)
    if (isBefore(hits, end)) {
      let nextHits = await next(query, hits)
      while (nextHits && isBefore(nextHits, end)) {
        hits = nextHits
        nextHits = await next(query, hits)
      }
      return { lines: hits.lines.filter((hit) => hit.offset < end), behind: hits.matches }
    }
    if (from === 0) return { lines: [], behind: 0 }
  }
}

const isBefore = ({ lines }: Hits, end: number) => !!lines[0] && lines[0].offset < end

async function next(query: HitQuery, { lines, matches }: Hits): Promise<Hits | null> {
  return matches > lines.length ? query(lines.at(-1)!.offset + 1) : null
}
