import { queryOptions } from '@tanstack/react-query'
import { api, loose, ok, type Shape } from '../../api/client'

export type Job = Shape<'JobRecord'>
export type Need = Shape<'Need'>

export const recentJobsQuery = queryOptions({
  queryKey: ['job', 'list', 'recent'],
  // Only agents of the original are answered otherwise.
  queryFn: async () =>
    (await ok(api.GET('/job', { params: { query: loose({ limit: 8 }) } }))) as Job[],
})

export const needsQuery = queryOptions({
  queryKey: ['job', 'needs', 5],
  queryFn: () => ok(api.GET('/-/needs', { params: { query: loose({ limit: 5 }) } })),
})

/** Whether there is anything to run. */
export const hasTasksQuery = queryOptions({
  queryKey: ['task', 'any'],
  queryFn: async () =>
    (await ok(api.GET('/task', { params: { query: loose({ limit: 1 }) } }))).length > 0,
})
