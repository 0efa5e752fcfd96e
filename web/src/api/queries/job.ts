import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { FAILED_STATES, PROBLEM_STATES, PROBLEMS } from '../../lib/problemJobs'
import { isOver } from '../../lib/state'
import { showError } from '../../ui/toast'
import { api, ok, okWithTotal, type RowsWithTotal, type Shape, untypedQuery } from '../client'
import { choiceOf, readNames } from './names'

export type Job = Shape<'JobRecord'>

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id],
    queryFn: () => ok<Job>(api.GET('/job/{id}', { params: { path: { id } } })),
  })

/** The filters of a list of jobs; the address has the same names. */
export interface JobFilter {
  state?: string
  task?: string
  workflow?: string
  host?: string
  user?: string
  origin?: string
  /** `1h`, `24h`, `7d`, `30d`, or a moment. */
  from?: string
  to?: string
  q?: string
}

export const PAGE = 200
/** A filter looks at so many jobs at a time, so that one that fits nothing answers at once. */
export const SCAN_LIMIT = 20_000

/** The state filters, as lifecycles and states. */
const STATES: Record<string, Record<string, string | string[]>> = {
  running: { lifecycle: ['assigned', 'started', 'syncing'] },
  queued: { lifecycle: ['ready'] },
  waiting: { lifecycle: ['onhold'] },
  failure: { state: FAILED_STATES },
  lost: { state: ['lost'] },
  success: { state: ['normal', 'success'] },
  canceled: { state: ['canceled'] },
  [PROBLEMS]: { state: PROBLEM_STATES },
}

/** The filters that are offered; `problems` combines two and is offered only where it is set. */
export function stateNames(filter: JobFilter): string[] {
  return Object.keys(STATES).filter((name) => name !== PROBLEMS || filter.state === PROBLEMS)
}

const SPANS: Record<string, number> = { '1h': 1, '24h': 24, '7d': 168, '30d': 720 }
export const PERIOD_NAMES = Object.keys(SPANS)

/** The time that a word such as `24h` means, to the minute, so that responses can be cached. */
export function momentOf(word: string | undefined, now = Date.now()): string | undefined {
  if (!word) return undefined
  const hours = SPANS[word]
  if (hours === undefined) return Number.isNaN(Date.parse(word)) ? undefined : word
  const at = now - hours * 3_600_000
  return new Date(at - (at % 60_000)).toISOString()
}

export function whereParams(filter: JobFilter): Record<string, unknown> {
  const query: Record<string, unknown> = {
    'where[task_id]': filter.task,
    'where[workflow_id]': filter.workflow,
    'where[host_id]': filter.host,
    'where[user_id]': filter.user,
    'where[origin]': filter.origin,
    'where[creation_date][$gte]': momentOf(filter.from),
    'where[creation_date][$lte]': momentOf(filter.to),
    q: filter.q,
  }
  for (const [field, values] of Object.entries(STATES[filter.state ?? ''] ?? {}))
    query[`where[${field}][$in][]`] = values
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

/** Jobs page by page, newest first; the server continues after the last id. */
export const jobsQuery = (filter: JobFilter) =>
  infiniteQueryOptions({
    queryKey: ['job', 'list', filter],
    queryFn: async ({ pageParam, signal }) => {
      const query = untypedQuery({
        ...whereParams(filter),
        limit: PAGE,
        look: SCAN_LIMIT,
        after: pageParam || undefined,
        ...(pageParam ? {} : { count: true, count_most: SCAN_LIMIT }),
      })
      return okWithTotal(api.GET('/job', { params: { query }, signal })) as Promise<
        RowsWithTotal<Job[]>
      >
    },
    initialPageParam: '',
    // Thousands of rows are not read again because one changed: see useLiveRows.
    meta: { readsItself: true },
    staleTime: Number.POSITIVE_INFINITY,
    getNextPageParam: (last) =>
      (last.rows.length < PAGE ? last.until : last.rows.at(-1)?.id) ?? undefined,
  })

/** How many jobs came in since the newest that is shown. */
export const newerQuery = (filter: JobFilter, newest: string) =>
  queryOptions({
    queryKey: ['job', 'newer', filter, newest],
    queryFn: async () => {
      const query = untypedQuery({
        ...newer(filter, newest),
        limit: 1,
        count: true,
        count_most: 999,
      })
      return (await okWithTotal(api.GET('/job', { params: { query } }))).total ?? 0
    },
  })

function newer(filter: JobFilter, newest: string): Record<string, unknown> {
  return { ...whereParams(filter), 'where[id][$gt]': newest, look: SCAN_LIMIT }
}

/** Those jobs, newest first; null: more than a page. */
export async function readNewer(filter: JobFilter, newest: string): Promise<Job[] | null> {
  const query = untypedQuery({ ...newer(filter, newest), limit: PAGE })
  const rows = (await ok(api.GET('/job', { params: { query } }))) as Job[]
  return rows.length < PAGE ? rows : null
}

/** Some jobs as they are now. */
export async function readJobs(ids: string[]): Promise<Job[]> {
  const query = untypedQuery({ 'where[id][$in][]': ids, limit: ids.length })
  return (await ok(api.GET('/job', { params: { query } }))) as Job[]
}

/** How many jobs of the same host are before this one in the queue. */
export const queuePositionQuery = (job: Job) =>
  queryOptions({
    queryKey: ['job', 'place', job.id],
    queryFn: async () => {
      const query = untypedQuery({
        'where[host_id]': job.host_id,
        'where[lifecycle]': 'ready',
        'where[id][$lt]': job.id,
        limit: 1,
        count: true,
      })
      return (await okWithTotal(api.GET('/job', { params: { query } }))).total ?? 0
    },
    enabled: job.lifecycle === 'ready' && job.host_id !== null,
  })

/** How many jobs were removed, of one task or workflow or of all. */
export const removedJobsQuery = (of: {
  task?: string | undefined
  workflow?: string | undefined
}) =>
  queryOptions({
    queryKey: ['job', 'removed', of],
    queryFn: () => ok(api.GET('/job/removed', { params: { query: untypedQuery(of) } })),
    refetchInterval: (query) => (query.state.data?.deletion ? 2_000 : false),
  })

export const filesQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'files'],
    queryFn: () => ok(api.GET('/job/{id}/files', { params: { path: { id } } })),
  })

export const scriptQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'script'],
    queryFn: () => ok(api.GET('/job/{id}/script', { params: { path: { id } } })),
  })

type JobAction = 'cancel' | 'approve' | 'reject' | 'synced' | 'release' | 'hold'

function send(action: JobAction, id: string): Promise<Job> {
  const params = { path: { id } }
  if (action === 'cancel') return ok(api.PUT('/job/{id}/cancel', { params }))
  if (action === 'approve') return ok(api.PUT('/job/{id}/approve', { params }))
  if (action === 'reject') return ok(api.PUT('/job/{id}/reject', { params }))
  if (action === 'hold') return ok(api.PUT('/job/{id}/hold', { params }))
  if (action === 'release') return ok(api.PUT('/job/{id}/release', { params }))
  return ok(api.PUT('/job/{id}/synced', { params }))
}

function optimisticFields(action: JobAction, job: Job): Partial<Job> {
  if (action === 'approve') return { lifecycle: 'finished', state: 'success' }
  if (action === 'reject') return { lifecycle: 'finished', state: 'failure' }
  if (action === 'hold') return { lifecycle: 'onhold', waiting_reason: 'held' }
  if (action === 'synced' || action === 'release') return { lifecycle: 'ready' }
  const isRunning = job.lifecycle === 'assigned' || job.lifecycle === 'started'
  return isRunning ? { cancel_requested: true } : { lifecycle: 'canceled', state: 'canceled' }
}

/** A new job of the same workflow: with all steps, or with the failed ones. */
export function restartWorkflowJob(job: Job, from: 'start' | 'failed'): Promise<Job> {
  const path = { id: job.workflow_id ?? '', workflow_job_id: job.id }
  return ok(
    api.PUT('/workflows/{id}/job/{workflow_job_id}/restart', { params: { path, query: { from } } }),
  )
}

/** Decides at once on the screen; the server's answer wins. */
export function useJobAction() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ action: act, job }: { action: JobAction; job: Job }) => send(act, job.id),
    onMutate: async ({ action: act, job }) => {
      await client.cancelQueries({ queryKey: ['job', job.id], exact: true })
      const before = client.getQueryData<Job>(['job', job.id])
      if (before)
        client.setQueryData(['job', job.id], { ...before, ...optimisticFields(act, before) })
      return { before }
    },
    onSuccess: (job) => client.setQueryData(['job', job.id], job),
    onError: (fault, { job }, previous) => {
      if (previous?.before) client.setQueryData(['job', job.id], previous.before)
      showError(fault)
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['job'] }),
  })
}

export function isWorkflow(job: Pick<Job, '_type'>): boolean {
  return job._type === 'WorkflowJob'
}

type Move = 'cancel' | 'restart' | 'resume' | 'input' | 'resolve' | 'synced' | 'release' | 'hold'

/** Actions that the state of the job allows, regardless of the level. */
export function movesOf(job: Job): Set<Move> {
  const moves = new Set<Move>()
  if (!isOver(job) && !job.cancel_requested) moves.add('cancel')
  if (isOver(job) && (job.task_id || isWorkflow(job))) moves.add('restart')
  const hasEndedWell = job.lifecycle === 'finished' && job.state !== 'failure'
  if (isWorkflow(job) && isOver(job) && !hasEndedWell) moves.add('resume')
  if (job.lifecycle === 'onhold' && job.waiting_reason === 'input') moves.add('input')
  if (job.lifecycle === 'syncing') moves.add('synced')
  const isSilent = job.lifecycle === 'assigned' && job.unreachable_since !== null
  const isHeld = job.lifecycle === 'onhold' && job.waiting_reason === 'restored'
  if (isHeld || (job.lifecycle === 'onhold' && job.waiting_reason === 'held')) moves.add('release')
  if (job.lifecycle === 'ready' && !isWorkflow(job) && !job.cancel_requested) moves.add('hold')
  if (job.state === 'lost' || isSilent || isHeld) moves.add('resolve')
  return moves
}

export const viewsQuery = queryOptions({
  queryKey: ['view'],
  queryFn: () => ok(api.GET('/view')),
})

/** The options of the filters: tasks with their hosts, hosts and people, by name. */
export const choicesQuery = queryOptions({
  queryKey: ['job-choices'],
  queryFn: async () => {
    const [tasks, hosts, members] = await Promise.all([
      readNames('task'),
      readNames('host'),
      // A person who may not see members filters without names.
      ok(api.GET('/api/member')).catch(() => []) as Promise<
        { id: string; user?: { id: string; name?: string; email?: string } }[]
      >,
    ])
    const users = members.flatMap(({ id, user }) =>
      user ? [{ value: user.id, label: user.name || user.email || user.id, member: id }] : [],
    )
    return {
      tasks: tasks.map(choiceOf),
      hosts: hosts.map(({ id, name }) => ({ value: id, label: name })),
      users: users.map(({ value, label }) => ({ value, label })),
      people: new Map(
        users.flatMap((user): [string, string][] => [
          [user.value, user.label],
          [user.member, user.label],
        ]),
      ),
    }
  },
})

/** The counts of a list by the names of the state filter; a number that is not exact has more. */
export const stateCountsQuery = (filter: JobFilter) =>
  queryOptions({
    queryKey: ['job', 'state-counts', { ...filter, state: undefined }],
    queryFn: async () => {
      const query = untypedQuery(whereParams({ ...filter, state: undefined }))
      const { counts, more } = await ok(api.GET('/job/counts', { params: { query } }))
      return { counts: countsByName(counts), more }
    },
    // Read again by the page, less often than events arrive.
    meta: { readsItself: true },
    placeholderData: keepPreviousData,
  })

export function countsByName(counts: Shape<'StateCount'>[]): Record<string, number> {
  const names = Object.entries(STATES).map(([name, fields]) => {
    const matching = counts.filter((row) =>
      Object.entries(fields).every(([field, values]) =>
        values.includes(row[field as 'lifecycle' | 'state']),
      ),
    )
    return [name, matching.reduce((sum, row) => sum + row.count, 0)]
  })
  return Object.fromEntries(names)
}

/** Jobs whose id ends with these digits. */
export const shortIdQuery = (digits: string) =>
  queryOptions({
    queryKey: ['job', 'short-id', digits],
    queryFn: async () => {
      const query = { q: `#${digits}`, kind: 'job' }
      return ok(api.GET('/-/search', { params: { query } }))
    },
  })
