import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'
import { fullPage, nextAfter } from '../../fullPage'

export type Workflow = Shape<'WorkflowRecord'>

const PAGE = 200

/** Workflows as rows, by name, a page at a time. Jobs change them too: see useAfter. */
export const workflowLinesQuery = infiniteQueryOptions({
  queryKey: ['workflow', 'list'],
  queryFn: ({ pageParam, signal }) => {
    const params = { 'sort[name]': 1, 'sort[id]': 1, limit: PAGE, count: true }
    const query = untypedQuery({ ...params, skip: pageParam || undefined })
    return okWithTotal(api.GET('/-/board/workflows', { params: { query }, signal }))
  },
  initialPageParam: 0,
  getNextPageParam: (last, pages) => (last.rows.length < PAGE ? undefined : pages.length * PAGE),
})

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ['workflow', id],
    queryFn: () => ok<Workflow>(api.GET('/workflows/{id}', { params: { path: { id } } })),
  })

/** All workflows with their graphs, for the thumbnails of the list. */
export const workflowGraphsQuery = queryOptions({
  queryKey: ['workflow', 'graphs'],
  queryFn: () => ok<Workflow[]>(api.GET('/workflows')),
  staleTime: 60_000,
})

const RUNS = 50
/** The runs of a workflow, newest first, without those of its steps, a page at a time. */
export const runsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['job', 'runs', id],
    queryFn: ({ pageParam, signal }) =>
      fullPage<Shape<'JobRecord'>>(RUNS, pageParam, (page) => {
        const query = untypedQuery({ ...page, 'where[_type]': 'WorkflowJob' })
        const params = { path: { id }, query }
        return okWithTotal(api.GET('/workflows/{id}/job', { params, signal })) as never
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => nextAfter(last, RUNS),
  })

export const stepsQuery = (id: string, job: string) =>
  queryOptions({
    queryKey: ['job', 'steps', job],
    queryFn: () =>
      ok<Shape<'StepRecord'>[]>(
        api.GET('/workflows/{id}/job/{workflow_job_id}/steps', {
          params: { path: { id, workflow_job_id: job } },
        }),
      ),
  })

/** The jobs of a run's steps: their lifecycles are the current state. */
export const stepJobsQuery = (id: string, job: string) =>
  queryOptions({
    queryKey: ['job', 'step-jobs', job],
    queryFn: () =>
      ok<Shape<'JobRecord'>[]>(
        api.GET('/workflows/{id}/job/{workflow_job_id}/jobs', {
          params: { path: { id, workflow_job_id: job } },
        }),
      ),
  })
