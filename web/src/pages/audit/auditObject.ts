import type { Shape } from '../../api/client'
import { browserName } from '../../lib/browserName'

/** Where the records of a kind have a page of their own. */
const PAGES: Record<string, string> = {
  file: 'scripts',
  host: 'hosts',
  indicator: 'indicators',
  job: 'jobs',
  monitor: 'monitors',
  schedule: 'schedules',
  statuspage: 'status',
  task: 'tasks',
  webhook: 'webhooks',
  workflow: 'workflows',
}
/** Its display name, whichever field contains it. */
const NAMES = ['name', 'title', 'hostname', 'filename', 'email']

/** The browser or program of a session, as it was sent. */
export function agentOf({ after }: Pick<Shape<'AuditRecord'>, 'after'>): string {
  const agent = (after as Record<string, unknown> | null)?.agent
  return typeof agent === 'string' ? agent : ''
}

/** The name that the record had, as far as the audit wrote it down. */
export function objectName({
  before,
  after,
}: Pick<Shape<'AuditRecord'>, 'before' | 'after'>): string {
  for (const record of [after, before]) {
    const values = NAMES.map((field) => (record as Record<string, unknown> | null)?.[field])
    const name = values.find((value) => typeof value === 'string' && value)
    if (name) return String(name)
  }
  return browserName(agentOf({ after }))
}

/** Its page; null: it has none, or it was deleted. */
export function objectPage({
  action,
  object,
  object_id: id,
}: Pick<Shape<'AuditRecord'>, 'action' | 'object' | 'object_id'>): string | null {
  const page = PAGES[object]
  return page && id && !action.endsWith('.delete') ? `/${page}/${id}` : null
}
