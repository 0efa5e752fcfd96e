import { queryOptions } from '@tanstack/react-query'
import { api, counted, loose, ok, type Shape } from '../client'

export type HostLine = Shape<'HostLine'>
export type Host = Shape<'HostRecord'>

export interface HostFilter {
  q?: string
  tag?: string
}

export function hostsQuery(filter: HostFilter = {}, limit = 200) {
  return queryOptions({
    queryKey: ['host', 'board', filter, limit],
    queryFn: ({ signal }) => {
      const query = loose({
        'where[hostname][$text]': filter.q || undefined,
        'where[tags]': filter.tag || undefined,
        'sort[rank]': 1,
        'sort[hostname]': 1,
        limit,
        count: true,
      })
      return counted(api.GET('/-/board/hosts', { params: { query }, signal }))
    },
    // Statistics make no events.
    refetchInterval: 15_000,
    meta: { after: ['monitor', 'job'] },
  })
}

export function hostQuery(id: string) {
  return queryOptions({
    queryKey: ['host', id],
    queryFn: () => ok(api.GET('/host/{id}', { params: { path: { id } } })),
  })
}

/** Every host's name, to choose from. */
export const hostNamesQuery = queryOptions({
  queryKey: ['host', 'names'],
  queryFn: () => ok(api.GET('/host', { params: { query: loose({ 'sort[hostname]': 1 }) } })),
})
