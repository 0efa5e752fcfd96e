import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'
import { paceMs } from '../../pace'
import { isDue, MAX_IDS, mergeChanges, type ReadPage, sinceNewest } from './changes'

export type MonitorLine = Shape<'MonitorLine'>
export type MonitorLineChange = Shape<'MonitorLineChange'>
export type MonitorPage = ReadPage<MonitorLine>
export type Monitor = Shape<'MonitorRecord'>

export interface MonitorFilter {
  q?: string
  state?: string
  kind?: string
  host?: string
  tag?: string
}

/** As many as the server returns at once; a long list is loaded page by page while it scrolls. */
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

/** The fields of a row that a check changes. */
export function withCheck(line: MonitorLine, change: MonitorLineChange): MonitorLine {
  const { last_check: at = null, value, ...fields } = change
  const blank = { beats: '', message: '', flapping: false, is_host_down: false }
  const spark = at && value !== undefined ? withPoint(line, at, value) : line.spark
  return { ...line, ...blank, ...fields, last_check: at, value: value ?? line.value, spark }
}

/** A step of time that has no value yet gets this one; the next reading of the page has means. */
function withPoint(line: MonitorLine, at: string, value: number | null): (number | null)[] {
  const { spark, spark_from: from, spark_step: step } = line
  const index = from ? Math.floor((Date.parse(at) - Date.parse(from)) / step) : -1
  if (index < 0 || index > spark.length || (spark[index] ?? null) !== null) return spark
  return [...spark.slice(0, index), value, ...spark.slice(index + 1)]
}

function readLines(lines: { id: string }[], signal: AbortSignal) {
  const ids = lines.map(({ id }) => id)
  const params = { query: untypedQuery({ 'where[id][$in][]': ids, limit: ids.length }) }
  return ok(api.GET('/-/board/monitors', { params, signal }))
}

function merge(page: MonitorPage, changes: MonitorLineChange[], signal: AbortSignal) {
  return mergeChanges<MonitorLine, MonitorLineChange>(page, changes, {
    // The first value has a name and a unit.
    isStale: (line, { version, value }) =>
      line.version !== version || (value !== undefined && !line.metric),
    readLines: (ids) =>
      readLines(
        ids.map((id) => ({ id })),
        signal,
      ),
    merge: withCheck,
  })
}

/** Those that were checked or changed since the page was read. */
function readNewer(page: MonitorPage, query: object, signal: AbortSignal) {
  const since = sinceNewest(page.rows.map((row) => row.last_check))
  const params = { query: untypedQuery({ ...query, count: undefined, since }) }
  return ok(api.GET('/-/board/monitors/changes', { params, signal }))
}

/** Between events only checks change a row. */
async function afterChecks(page: MonitorPage, query: object, signal: AbortSignal) {
  const changes = await readNewer(page, query, signal)
  const ids = new Set(page.rows.map(({ id }) => id))
  const lines = await merge(
    page,
    changes.filter(({ id }) => ids.has(id)),
    signal,
  )
  return lines && { ...page, rows: page.rows.map((row) => lines.get(row.id) ?? row) }
}

/** An event can also change which rows the page has, and their order. */
async function afterEvent(page: MonitorPage, query: object, signal: AbortSignal) {
  if (page.rows.length <= MAX_IDS) return smallAfterEvent(page, query, signal)
  const params = { query: untypedQuery({ ...query }) }
  const [order, changes] = await Promise.all([
    okWithTotal(api.GET('/-/board/monitors/order', { params, signal })),
    readNewer(page, query, signal),
  ])
  const ids = new Set([...page.rows, ...changes].map(({ id }) => id))
  const others = order.rows.filter(({ id }) => !ids.has(id))
  if (others.length > MAX_IDS) return null
  const lines = await merge(page, changes, signal)
  for (const line of others.length ? await readLines(others, signal) : []) lines?.set(line.id, line)
  const rows = order.rows.flatMap(({ id }) => lines?.get(id) ?? [])
  return lines && { ...order, rows, readAt: page.readAt }
}

/** The changes of few rows are smaller than a second request. */
async function smallAfterEvent(page: MonitorPage, query: object, signal: AbortSignal) {
  const params = { query: untypedQuery({ ...query }) }
  const answer = await okWithTotal(api.GET('/-/board/monitors/changes', { params, signal }))
  const lines = await merge(page, answer.rows, signal)
  const rows = answer.rows.flatMap(({ id }) => lines?.get(id) ?? [])
  return lines && { ...answer, rows, readAt: page.readAt }
}

/** One page of monitors, worst first, with the total. */
export function monitorsQuery(filter: MonitorFilter, page = 0, limit = PAGE) {
  return queryOptions({
    queryKey: ['monitor', 'board', filter, page, limit],
    queryFn: async ({ signal, client, queryKey }): Promise<MonitorPage> => {
      const params = { ...where(filter), 'sort[rank]': 1, 'sort[name]': 1, limit, count: true }
      const query = untypedQuery({ ...params, skip: page * limit || undefined })
      const state = client.getQueryState<MonitorPage>(queryKey)
      const old = state?.data
      if (old && !isDue(old)) {
        const next = await (state.isInvalidated ? afterEvent : afterChecks)(old, query, signal)
        if (next) return next
      }
      const answer = await okWithTotal(api.GET('/-/board/monitors', { params: { query }, signal }))
      return { ...answer, readAt: Date.now() }
    },
    // A card of the dashboard has less need of the last check than the list.
    refetchInterval: limit === PAGE ? CHECKS_MS : 2 * CHECKS_MS,
    // An event itself changes the state of its row; the order of the rows can wait.
    meta: { paceMs: (rows?: MonitorPage) => paceMs(rows?.total, 2 * CHECKS_MS) },
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

/** Every tag of the objects that the person may see. */
export const tagsQuery = queryOptions({
  queryKey: ['tag'],
  queryFn: () => ok(api.GET('/tag')),
  staleTime: 60_000,
})

/** The monitors of a group, by name. */
export const monitorsByIdQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ['monitor', 'by-id', ids],
    queryFn: () => {
      const query = untypedQuery({ 'where[id][$in][]': ids, 'sort[name]': 1 })
      return ok(api.GET('/monitor', { params: { query } }))
    },
    enabled: ids.length > 0,
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
