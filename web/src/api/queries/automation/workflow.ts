import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type RowsWithTotal, type Shape, untypedQuery } from '../../client'

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

const RUNS = 50
type Runs = Shape<'JobRecord'>[]

/** A page may end at the server's row budget, short or empty: it is read on until it is full. */
async function readRuns(
  params: { path: { id: string }; query: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Runs> {
  const rows: Runs = []
  let query = params.query
  for (;;) {
    const response = api.GET('/workflows/{id}/job', {
      params: { ...params, query: untypedQuery({ ...query, limit: RUNS - rows.length }) },
      signal,
    })
    const page = (await okWithTotal(response)) as RowsWithTotal<Runs>
    rows.push(...page.rows)
    if (!page.until || rows.length >= RUNS) return rows
    query = { ...query, after: page.until }
  }
}

/** The runs of a workflow, newest first, without those of its steps, a page at a time. */
export const runsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['job', 'runs', id],
    queryFn: ({ pageParam, signal }) => {
      const query = untypedQuery({ limit: RUNS, after: pageParam, 'where[_type]': 'WorkflowJob' })
      const params = { path: { id }, query }
      return readRuns(params, signal)
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.length < RUNS ? undefined : last.at(-1)?.id),
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

/** The jobs of a run's steps: their lifecycles are the truth of what happens now. */
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
