import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape, untypedQuery } from '../../api/client'
import { monitorsQuery } from '../../api/queries/monitoring/monitor'
import { PROBLEM_STATES } from '../../lib/problemJobs'

export type Job = Shape<'JobRecord'>
export type PendingDecision = Shape<'PendingDecision'>

export const recentJobsQuery = queryOptions({
  queryKey: ['job', 'list', 'recent'],
  // Only TheEye agents are answered otherwise.
  queryFn: async () =>
    (await ok(api.GET('/job', { params: { query: untypedQuery({ limit: 8 }) } }))) as Job[],
})

const DAY_MS = 24 * 3_600_000
/** Jobs that are searched for failed ones. */
const MAX_SEARCHED = 20_000
/** How many problems of each kind the dashboard lists. */
export const SHOWN_PROBLEMS = 5

export const problemMonitorsQuery = monitorsQuery({ state: 'problems' }, 0, SHOWN_PROBLEMS)

/** Jobs of the last day that failed or are lost, newest first. */
export const failedJobsQuery = queryOptions({
  queryKey: ['job', 'list', 'failed'],
  queryFn: async () => {
    const query = untypedQuery({
      'where[state][$in][]': PROBLEM_STATES,
      'where[creation_date][$gte]': new Date(Date.now() - DAY_MS).toISOString(),
      limit: SHOWN_PROBLEMS,
      look: MAX_SEARCHED,
    })
    return (await ok(api.GET('/job', { params: { query } }))) as Job[]
  },
})

/** The arrangement of the cards: by this person, and by a manager for everyone else. */
export const layoutQuery = queryOptions({
  queryKey: ['view', 'layout', 'dashboard'],
  queryFn: () => ok(api.GET('/view/layout/dashboard')),
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
