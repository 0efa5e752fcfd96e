import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'

export type HostLine = Shape<'HostLine'>
export type Host = Shape<'HostRecord'>
export type HostWarning = Shape<'HostWarning'>

export interface HostFilter {
  q?: string
  tag?: string
  /** A state, or `problems`: offline or not reporting. */
  state?: string
}

/** Orders that the server knows; figures are sorted here, because it does not store them. */
export type HostOrder = 'rank' | 'hostname' | 'last_seen'

const PAGE = 200
const PROBLEMS = ['offline', 'unreachable']
// Statistics make no events.
const FIGURES_MS = 15_000

function read(
  filter: HostFilter,
  order: HostOrder,
  limit: number,
  skip: number,
  signal: AbortSignal,
) {
  const isProblems = filter.state === 'problems'
  const query = untypedQuery({
    'where[hostname][$text]': filter.q || undefined,
    'where[tags]': filter.tag || undefined,
    'where[state]': isProblems ? undefined : filter.state,
    'where[state][$in][]': isProblems ? PROBLEMS : undefined,
    [`sort[${order}]`]: order === 'last_seen' ? -1 : 1,
    ...(order === 'hostname' ? {} : { 'sort[hostname]': 1 }),
    'sort[id]': 1,
    limit,
    skip: skip || undefined,
    count: true,
  })
  return okWithTotal(api.GET('/-/board/hosts', { params: { query }, signal }))
}

/** A few hosts, worst first, with the total. */
export function fewHostsQuery(limit: number) {
  return queryOptions({
    queryKey: ['host', 'few', limit],
    queryFn: ({ signal }) => read({}, 'rank', limit, 0, signal),
    refetchInterval: FIGURES_MS,
    meta: { after: ['monitor', 'job'] },
  })
}

/** All hosts, worst first, a page at a time. Jobs and monitors change them too: see useAfter. */
export function hostsQuery(filter: HostFilter, order: HostOrder = 'rank') {
  return infiniteQueryOptions({
    queryKey: ['host', 'board', filter, order],
    queryFn: ({ pageParam, signal }) => read(filter, order, PAGE, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.rows.length < PAGE ? undefined : pages.length * PAGE),
    // Many pages are read again less often.
    refetchInterval: ({ state }) => FIGURES_MS * Math.max(1, state.data?.pages.length ?? 1),
    placeholderData: keepPreviousData,
  })
}

export function hostQuery(id: string) {
  return queryOptions({
    queryKey: ['host', id],
    queryFn: () => ok(api.GET('/host/{id}', { params: { path: { id } } })),
  })
}

/** Why the host gets no jobs after a restore, and which of its jobs to check. */
export function hostWarningsQuery(id: string) {
  return queryOptions({
    queryKey: ['host', id, 'warnings'],
    queryFn: async () => {
      const query = untypedQuery({ 'where[id]': id, limit: 1 })
      const [line] = await ok(api.GET('/-/board/hosts', { params: { query } }))
      return line?.warnings ?? []
    },
    refetchInterval: FIGURES_MS,
  })
}

/** Every host's name, to choose from. */
export const hostNamesQuery = queryOptions({
  queryKey: ['host', 'names'],
  queryFn: () => ok(api.GET('/host', { params: { query: untypedQuery({ 'sort[hostname]': 1 }) } })),
})

/** Where new hosts reach the server. */
export const installAddressQuery = queryOptions({
  queryKey: ['install-address'],
  queryFn: () => ok(api.GET('/api/enrolment/address')),
  staleTime: Number.POSITIVE_INFINITY,
})
