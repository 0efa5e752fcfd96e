import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../client'

export type StatusPage = Shape<'StatusPageRecord'>
export type PublicStatus = Shape<'Status'>
export type Part = StatusPage['parts'][number]

export type PostedIncident = Shape<'PostedIncident'>

export const statusPagesQuery = queryOptions({
  queryKey: ['statuspage', 'list'],
  queryFn: () => ok(api.GET('/statuspage')),
})

export function statusPageQuery(id: string) {
  return queryOptions({
    queryKey: ['statuspage', id],
    queryFn: () => ok(api.GET('/statuspage/{id}', { params: { path: { id } } })),
  })
}

/** The public page. There is no event stream without a sign-in, so it is polled. */
export function publicStatusQuery(slug: string) {
  return queryOptions({
    queryKey: ['public-status', slug],
    queryFn: () => ok(api.GET('/-/status/{slug}', { params: { path: { slug } } })),
    refetchInterval: 30_000,
  })
}

export function postedIncidentsQuery(id: string) {
  return queryOptions({
    queryKey: ['statuspage', id, 'incidents'],
    queryFn: () => ok(api.GET('/statuspage/{id}/incident', { params: { path: { id } } })),
  })
}

export function subscribersQuery(id: string) {
  return queryOptions({
    queryKey: ['statuspage', id, 'subscribers'],
    queryFn: () => ok(api.GET('/statuspage/{id}/subscriber', { params: { path: { id } } })),
  })
}
