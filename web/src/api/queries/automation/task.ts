import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'

export type Task = Shape<'TaskRecord'>
export type TaskLine = Shape<'TaskLine'>

export interface TaskFilter {
  q?: string
  tag?: string
  host?: string
  type?: string
}

const PAGE = 200

/** Tasks as rows, by name, a page at a time. Jobs change them too: see useAfter. */
export const taskLinesQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ['task', 'board', filter],
    queryFn: ({ pageParam, signal }) => {
      const query = untypedQuery({
        'where[name][$text]': filter.q || undefined,
        'where[tags]': filter.tag || undefined,
        'where[host_id]': filter.host || undefined,
        'where[type]': filter.type || undefined,
        'sort[name]': 1,
        'sort[id]': 1,
        limit: PAGE,
        skip: pageParam || undefined,
        count: true,
      })
      return okWithTotal<TaskLine[]>(api.GET('/-/board/tasks', { params: { query }, signal }))
    },
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.rows.length < PAGE ? undefined : pages.length * PAGE),
  })

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: ['task', id],
    queryFn: () => ok<Task>(api.GET('/task/{id}', { params: { path: { id } } })),
  })

/** Everything that can start a task or workflow. */
export const triggersQuery = queryOptions({
  queryKey: ['event', 'list'],
  queryFn: () => ok(api.GET('/event')),
  meta: { after: ['task', 'webhook', 'indicator', 'monitor', 'workflow'] },
})

/** The newest jobs of a task. */
export const taskJobsQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', 'of-task', id],
    queryFn: ({ signal }) => {
      const query = untypedQuery({ 'where[task_id]': id, limit: 100 })
      return ok<Shape<'JobRecord'>[]>(api.GET('/job', { params: { query }, signal }) as never)
    },
  })

/** Who changed the definition, newest first; admins only. */
export const definitionAuditQuery = (object: string, id: string) =>
  queryOptions({
    queryKey: [object, id, 'audit'],
    queryFn: () => {
      const query = untypedQuery({ object, object_id: id, limit: 100 })
      return ok<Shape<'AuditRecord'>[]>(api.GET('/api/audit', { params: { query } }))
    },
  })
