import { useQuery } from '@tanstack/react-query'
import type { Shape } from '../../api/client'
import { webhooksQuery } from '../../api/queries/automation/webhook'
import {
  hostNamesQuery,
  monitorNamesQuery,
  taskNamesQuery,
  workflowNamesQuery,
} from '../../api/queries/names'
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
  const named = [...tasks, ...(workflows ?? []), ...webhooks, ...hosts, ...monitors]
  return new Map(named.map(({ id, name }) => [id, name]))
}
