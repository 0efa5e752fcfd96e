import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'

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

/** One page of monitors, worst first, with the total. */
export function monitorsQuery(filter: MonitorFilter, page = 0, limit = PAGE) {
  return queryOptions({
    queryKey: ['monitor', 'board', filter, page, limit],
    queryFn: ({ signal }) => {
      const params = { ...where(filter), 'sort[rank]': 1, 'sort[name]': 1, limit, count: true }
      const query = untypedQuery({ ...params, skip: page * limit || undefined })
      return okWithTotal(api.GET('/-/board/monitors', { params: { query }, signal }))
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
