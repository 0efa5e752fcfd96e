import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape, untypedQuery } from '../../api/client'

export type Job = Shape<'JobRecord'>
export type PendingDecision = Shape<'PendingDecision'>

export const recentJobsQuery = queryOptions({
  queryKey: ['job', 'list', 'recent'],
  // Only agents of the original are answered otherwise.
  queryFn: async () =>
    (await ok(api.GET('/job', { params: { query: untypedQuery({ limit: 8 }) } }))) as Job[],
})

export const pendingDecisionsQuery = queryOptions({
  queryKey: ['job', 'needs', 5],
  queryFn: () => ok(api.GET('/-/needs', { params: { query: untypedQuery({ limit: 5 }) } })),
})

/** Whether there is anything to run. */
export const hasTasksQuery = queryOptions({
  queryKey: ['task', 'any'],
  queryFn: async () =>
    (await ok(api.GET('/task', { params: { query: untypedQuery({ limit: 1 }) } }))).length > 0,
})
