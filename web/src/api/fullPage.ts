import type { RowsWithTotal } from './client'

interface Row {
  id: string
}

/** Requests for one page: each examines up to 100,000 rows. */
const MAX_REQUESTS = 20

/** Where the next page begins, undefined after the last one. */
export function nextAfter<T extends Row>(
  page: RowsWithTotal<T[]>,
  limit: number,
): string | undefined {
  return (page.rows.length < limit ? page.until : page.rows.at(-1)?.id) ?? undefined
}

/** A page may end at the server's row budget, short or even empty, without being the last one: it
 * is continued until it is full. A page that is short because it has many bytes is not. */
export async function fullPage<T extends Row>(
  limit: number,
  after: string | undefined,
  read: (query: { limit: number; after: string | undefined }) => Promise<RowsWithTotal<T[]>>,
): Promise<RowsWithTotal<T[]>> {
  const page = await read({ limit, after })
  const rows = [...page.rows]
  let { until } = page
  for (let requests = 1; requests < MAX_REQUESTS; requests++) {
    if (until === null || rows.length >= limit || until === rows.at(-1)?.id) break
    const step = await read({ limit: limit - rows.length, after: until })
    rows.push(...step.rows)
    until = step.until
  }
  return { ...page, rows, until }
}
