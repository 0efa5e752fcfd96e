import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
} from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'
import { paceMs } from '../../pace'
import { isDue, type ReadPage, sinceNewest } from './changes'

export type HostLine = Shape<'HostLine'>
export type HostLineChange = Shape<'HostLineChange'>
type HostPage = ReadPage<HostLine>
export type Host = Shape<'HostRecord'>
export type HostWarning = Shape<'HostWarning'>

export interface HostFilter {
  q?: string
  tag?: string
  /** A state, or `problems`: offline or not reporting. */
  state?: string
}

/** Orders that the server supports; figures are sorted here, because it does not store them. */
export type HostOrder = 'rank' | 'hostname' | 'last_seen'

const PAGE = 200
const PROBLEMS = ['offline', 'unreachable']
// Statistics make no events.
const FIGURES_MS = 15_000

function pageQuery(filter: HostFilter, order: HostOrder, limit: number, skip = 0) {
  const isProblems = filter.state === 'problems'
  return untypedQuery({
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
}

async function readPage(query: object, signal: AbortSignal): Promise<HostPage> {
  const params = { query: untypedQuery({ ...query }) }
  const page = await okWithTotal(api.GET('/-/board/hosts', { params, signal }))
  return { ...page, readAt: Date.now() }
}

/** Between events of hosts, only their jobs change. */
async function readChanges(page: HostPage, query: object, signal: AbortSignal): Promise<HostPage> {
  const since = sinceNewest(page.rows.map((row) => row.figures_at))
  const params = { query: untypedQuery({ ...query, count: undefined, since }) }
  const rows = await ok(api.GET('/-/board/hosts/changes', { params, signal }))
  const changes = new Map(rows.map((change) => [change.id, change]))
  return { ...page, rows: page.rows.map((line) => withChange(line, changes.get(line.id))) }
}

/** Nothing runs or fails on a host without a change. A host that is online was seen just now. */
export function withChange(line: HostLine, change?: HostLineChange): HostLine {
  const idle = { failing: 0, running: 0, warnings: [] }
  if (change) return { ...line, cpu: null, mem: null, disk: null, monitors: 0, ...idle, ...change }
  const isSeen = line.state === 'online' || line.state === 'draining'
  return { ...line, ...idle, last_seen: isSeen ? new Date().toISOString() : line.last_seen }
}

/** A few hosts, worst first, with the total. */
export function fewHostsQuery(limit: number) {
  return queryOptions({
    queryKey: ['host', 'few', limit],
    queryFn: ({ signal }) => readPage(pageQuery({}, 'rank', limit), signal),
    refetchInterval: 2 * FIGURES_MS,
    meta: {
      after: ['monitor', 'job'],
      paceMs: (page?: HostPage) => paceMs(page?.total, 2 * FIGURES_MS),
    },
  })
}

/** All hosts, worst first, a page at a time. Jobs and monitors change them too: see the page. */
export function hostsQuery(filter: HostFilter, order: HostOrder = 'rank') {
  return infiniteQueryOptions({
    queryKey: ['host', 'board', filter, order],
    queryFn: ({ pageParam, signal, client, queryKey }): Promise<HostPage> => {
      const query = pageQuery(filter, order, PAGE, pageParam)
      const state = client.getQueryState<InfiniteData<HostPage, number>>(queryKey)
      const page = state?.data?.pages[state.data.pageParams.indexOf(pageParam)]
      if (!page || isDue(page) || state?.isInvalidated) return readPage(query, signal)
      return readChanges(page, query, signal)
    },
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

/** A host that is online, or else any host; null: there is none. */
export const anyHostQuery = queryOptions({
  queryKey: ['host', 'any'],
  queryFn: async () => (await firstHost({ 'where[state]': 'online' })) ?? (await firstHost({})),
})

/** A host that was added and connected since a moment. */
export const newHostQuery = (since: string | null) =>
  queryOptions({
    queryKey: ['host', 'new', since],
    queryFn: () => firstHost({ 'where[state]': 'online', 'where[creation_date][$gte]': since }),
    enabled: since !== null,
  })

async function firstHost(where: Record<string, string | null>): Promise<Host | null> {
  const query = untypedQuery({ ...where, limit: 1 })
  const [host] = await ok(api.GET('/host', { params: { query } }))
  return host ?? null
}

/** Where new hosts reach the server. */
export const installAddressQuery = queryOptions({
  queryKey: ['install-address'],
  queryFn: () => ok(api.GET('/api/enrolment/address')),
  staleTime: Number.POSITIVE_INFINITY,
})
