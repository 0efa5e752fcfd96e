import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../api/client'
import { ApiError } from '../../api/errors'
import { membersQuery } from '../../api/queries/access'
import { hasLevel } from '../../app/permissions'
import { useProfile } from '../../app/session'
import type { Argument } from '../arguments/values'

/** Objects that can be run. */
export interface Target {
  kind: 'task' | 'workflow'
  id: string
  name: string
}

/** A step of an ended workflow run: the run is repeated from it, under the ACL of the workflow. */
export interface RunStep {
  workflowId: string
  runId: string
  nodeId: string
  acl: string[]
}

/** The values of an earlier job, to begin with. */
export interface JobValues {
  id: string
  values: unknown[]
  step?: RunStep
}

export interface Runnable {
  name: string
  enable: boolean
  acl: string[]
  /** Null: the first task of a workflow is not for this reader's eyes. */
  arguments: Argument[] | null
}

/** The part of the definition that a run needs; a workflow has the arguments of its first task. */
export const runnableQuery = ({ kind, id }: Target) =>
  queryOptions({
    queryKey: [kind, id, 'runnable'],
    meta: { after: ['task'] },
    queryFn: () => (kind === 'task' ? ofTask(id) : ofWorkflow(id)),
  })

async function ofTask(id: string): Promise<Runnable> {
  const { name, enable, acl, task_arguments } = await ok(
    api.GET('/task/{id}', { params: { path: { id } } }),
  )
  return { name, enable, acl, arguments: task_arguments }
}

async function ofWorkflow(id: string): Promise<Runnable> {
  const { name, enable, acl, start_task_id } = await ok(
    api.GET('/workflows/{id}', { params: { path: { id } } }),
  )
  const first = await ofTask(start_task_id).catch((fault) => {
    if (fault instanceof ApiError && (fault.status === 404 || fault.status === 403)) return null
    throw fault
  })
  return { name, enable, acl, arguments: first?.arguments ?? null }
}

/**
 * Whether this person may run the object with the ACL. Users see only what names them; managers see
 * everything but also run only what names them.
 */
export function useMayRun(): (acl: string[]) => boolean {
  const { credential, email, username, member_id } = useProfile()
  const isManager = credential === 'manager'
  const { data } = useQuery({ ...membersQuery, enabled: isManager })
  const tags = data?.find((member) => member.id === member_id)?.tags ?? []
  const names = [email, username, ...tags.map(tagText)].map((name) => name.toLowerCase())
  return (acl) => {
    if (!isManager) return hasLevel(credential, 'user')
    return acl.some((entry) => names.includes(entry.toLowerCase()))
  }
}

/** A member's tag as an ACL names it. */
export function tagText({ k, v }: Shape<'Tag'>): string {
  return v ? `${k}:${v}` : k
}

/** Starts it, once: the same key again gives the same job. */
export async function start(
  { kind, id }: Target,
  values: unknown[] | null,
  key: string,
  from?: JobValues,
): Promise<Shape<'JobRecord'>> {
  const body = values ? { task_arguments: values } : {}
  if (from?.step) return startStep(from.step, body)
  if (from) {
    // The new job names the one that it repeats.
    const request = { params: { path: { id: from.id } }, body, headers: { 'idempotency-key': key } }
    return ok<Shape<'JobRecord'>>(api.PUT('/job/{id}/restart', request as never) as never)
  }
  const request = { params: { path: { id } }, body, headers: { 'idempotency-key': key } }
  return kind === 'task'
    ? ok<Shape<'JobRecord'>>(api.POST('/task/{id}/job', request) as never)
    : ok<Shape<'JobRecord'>>(api.POST('/workflows/{id}/job', request) as never)
}

/** Runs the workflow again from this step, with other arguments for it. */
export function startStep(
  { workflowId, runId, nodeId }: RunStep,
  body: { task_arguments?: unknown[] },
) {
  const params = {
    path: { id: workflowId, workflow_job_id: runId },
    query: { from: 'step', step: nodeId },
  }
  const path = '/workflows/{id}/job/{workflow_job_id}/restart'
  return ok<Shape<'JobRecord'>>(api.PUT(path, { params, body }) as never)
}

/** A key for one try; randomUUID is missing on plain http. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
