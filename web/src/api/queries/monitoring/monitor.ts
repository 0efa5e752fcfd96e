import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type RowsWithTotal, type Shape, untypedQuery } from '../../client'

export type MonitorLine = Shape<'MonitorLine'>
export type Monitor = Shape<'MonitorRecord'>

export interface MonitorFilter {
  q?: string
  state?: string
  kind?: string
  host?: string
  tag?: string
}

/** As many as the server gives at once; a long list is read page by page as it comes into view. */
export const PAGE = 200
// Checks make no events, only turns do: between them the rows are looked at again now and then.
const CHECKS_MS = 15_000
export const PROBLEMS = ['failure', 'updates_stopped', 'unknown']

function where(filter: MonitorFilter): Record<string, unknown> {
  return {
    'where[name][$text]': filter.q || undefined,
    'where[type]': filter.kind || undefined,
    'where[host_id]': filter.host || undefined,
    'where[tags]': filter.tag || undefined,
    ...(filter.state === 'problems'
      ? { 'where[state][$in][]': PROBLEMS }
      : { 'where[state]': filter.state || undefined }),
  }
}

// Then the whole page is read again, in case that a change made no event.
const WHOLE_MS = 10 * 60_000
// A check may be stored after one that was made later.
const OVERLAP_MS = 5_000
/** Ids of more rows would make the address too long; then all that were checked are read. */
const MAX_IDS = 100

/** A page of rows, and when it was read as a whole. */
export type MonitorPage = RowsWithTotal<MonitorLine[]> & { readAt: number }

async function readChecked(rows: MonitorLine[], signal: AbortSignal): Promise<MonitorLine[]> {
  const query = untypedQuery({
    'where[last_check][$gt]': earlier(newestCheck(rows)),
    'where[id][$in][]': rows.length <= MAX_IDS ? rows.map((row) => row.id) : undefined,
    limit: PAGE,
  })
  return ok(api.GET('/-/board/monitors', { params: { query }, signal }))
}

function earlier(at: string | undefined): string | undefined {
  return at && new Date(Date.parse(at) - OVERLAP_MS).toISOString()
}

/** When the row was checked that was checked last. */
export function newestCheck(rows: Pick<MonitorLine, 'last_check'>[]): string | undefined {
  return rows.reduce<string | undefined>(
    (newest, { last_check: at }) => (at && (!newest || at > newest) ? at : newest),
    undefined,
  )
}

/** The same page with the lines that were read again. */
export function withLines<T extends { rows: MonitorLine[] }>(page: T, lines: MonitorLine[]): T {
  if (lines.length === 0) return page
  const fresh = new Map(lines.map((line) => [line.id, line]))
  return { ...page, rows: page.rows.map((row) => fresh.get(row.id) ?? row) }
}

/** One page of monitors, worst first, with the total. */
export function monitorsQuery(filter: MonitorFilter, page = 0, limit = PAGE) {
  return queryOptions({
    queryKey: ['monitor', 'board', filter, page, limit],
    queryFn: async ({ signal, client, queryKey }): Promise<MonitorPage> => {
      const state = client.getQueryState<MonitorPage>(queryKey)
      const old = state?.data
      // Between events only checks change a row: those are read that were checked since.
      const isDue = !old || Date.now() - old.readAt > WHOLE_MS
      if (old?.rows.length && !state?.isInvalidated && !isDue)
        return withLines(old, await readChecked(old.rows, signal))
      const params = { ...where(filter), 'sort[rank]': 1, 'sort[name]': 1, limit, count: true }
      const query = untypedQuery({ ...params, skip: page * limit || undefined })
      const answer = await okWithTotal(api.GET('/-/board/monitors', { params: { query }, signal }))
      return { ...answer, readAt: Date.now() }
    },
    refetchInterval: CHECKS_MS,
    placeholderData: page === 0 ? keepPreviousData : undefined,
  })
}

export function monitorQuery(id: string) {
  return queryOptions({
    queryKey: ['monitor', id],
    queryFn: () => ok(api.GET('/monitor/{id}', { params: { path: { id } } })),
    refetchInterval: CHECKS_MS,
  })
}

/** Every tag of what the person may see, on monitors or elsewhere. */
export const tagsQuery = queryOptions({
  queryKey: ['tag'],
  queryFn: () => ok(api.GET('/tag')),
  staleTime: 60_000,
})

/** All monitors by name, to choose from. */
export const monitorNamesQuery = queryOptions({
  queryKey: ['monitor', 'names'],
  queryFn: () => ok(api.GET('/monitor', { params: { query: untypedQuery({ 'sort[name]': 1 }) } })),
})

export interface Span {
  from: string
  to?: string
  step?: number
}

export function monitorHistoryQuery(id: string, span: Span, every = CHECKS_MS) {
  return queryOptions({
    queryKey: ['monitor', id, 'history', span],
    queryFn: ({ signal }) =>
      ok(
        api.GET('/monitor/{id}/history', {
          params: { path: { id }, query: untypedQuery({ ...span }) },
          signal,
        }),
      ),
    refetchInterval: span.to ? false : every,
    placeholderData: keepPreviousData,
  })
}

/** When it came into which state, since a time. */
export function monitorStateLogQuery(id: string, from: string) {
  return queryOptions({
    queryKey: ['monitor', id, 'turns', from],
    queryFn: ({ signal }) =>
      ok(
        api.GET('/monitor/{id}/turns', {
          params: { path: { id }, query: untypedQuery({ from }) },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  })
}
