import { useQuery } from '@tanstack/react-query'
import type { Shape } from '../../api/client'
import { taskNamesQuery } from '../../api/queries/automation/task'
import { webhooksQuery } from '../../api/queries/automation/webhook'
import { workflowNamesQuery } from '../../api/queries/automation/workflowNames'
import { hostNamesQuery } from '../../api/queries/monitoring/host'
import { monitorNamesQuery } from '../../api/queries/monitoring/monitor'
import { objectName } from './auditObject'

type Row = Shape<'AuditRecord'>

/** The names of objects that exist, for rows that recorded only an id. */
export function useObjectNames(rows: Row[]): Map<string, string> {
  const nameless = new Set(rows.filter((row) => !objectName(row)).map((row) => row.object))
  const tasks = useQuery({ ...taskNamesQuery, enabled: nameless.has('task') }).data ?? []
  const workflows = useQuery({ ...workflowNamesQuery, enabled: nameless.has('workflow') }).data
  const webhooks = useQuery({ ...webhooksQuery, enabled: nameless.has('webhook') }).data ?? []
  const hosts = useQuery({ ...hostNamesQuery, enabled: nameless.has('host') }).data ?? []
  const monitors = useQuery({ ...monitorNamesQuery, enabled: nameless.has('monitor') }).data ?? []
  const named = [...tasks, ...(workflows ?? []), ...webhooks, ...monitors]
  return new Map([
    ...named.map(({ id, name }) => [id, name] as const),
    ...hosts.map(({ id, hostname }) => [id, hostname] as const),
  ])
}
