import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape, untypedQuery } from '../../client'

export type Schedule = Shape<'ScheduleRecord'>
export type Fire = Shape<'FireRecord'>
export type When = Shape<'PreviewBody'>

export const schedulesQuery = queryOptions({
  queryKey: ['schedule', 'list'],
  queryFn: () => ok<Schedule[]>(api.GET('/schedule', { params: { query: untypedQuery({}) } })),
  meta: { after: ['task', 'workflow'] },
})

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ['schedule', id],
    queryFn: () => ok<Schedule>(api.GET('/schedule/{id}', { params: { path: { id } } })),
  })

/** The next runs of a schedule. */
/** `step`: only the first run of each period of so many milliseconds. */
export const nextRunsQuery = (id: string, count: number, step?: number) =>
  queryOptions({
    queryKey: ['schedule', id, 'next', count, step],
    queryFn: () => {
      const params = { path: { id }, query: untypedQuery({ count, step }) }
      return ok<Fire[]>(api.GET('/schedule/{id}/preview', { params }))
    },
    staleTime: 120_000,
  })

/** The runs that a cron expression, an interval or a date would give. */
export const previewQuery = (when: When) =>
  queryOptions({
    queryKey: ['preview', when],
    queryFn: ({ signal }) => ok<Fire[]>(api.POST('/schedule/preview', { body: when, signal })),
    retry: false,
  })

const INSTANTS = 100

/** The history of a schedule's instants, newest first, page by page. */
export const scheduleRunsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['schedule', id, 'runs'],
    queryFn: ({ pageParam, signal }) => {
      const query = untypedQuery({ limit: INSTANTS, 'where[nominal][$lt]': pageParam })
      const params = { path: { id }, query }
      return ok<Shape<'RunRecord'>[]>(api.GET('/schedule/{id}/run', { params, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.length < INSTANTS ? undefined : last.at(-1)?.nominal),
  })
