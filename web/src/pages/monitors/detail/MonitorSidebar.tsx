import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, ok } from '../../../api/client'
import { type Monitor, monitorNamesQuery } from '../../../api/queries/monitoring/monitor'
import { useReaches } from '../../../app/session'
import { interval } from '../../../lib/format'
import { watchLook, watchWord } from '../../../lib/state'
import { Go } from '../../../ui/AppLink'
import { StateIcon } from '../../../ui/state/StateIcon'
import { headerText } from '../form/HeadersInput'
import { fieldsOf } from '../form/kinds'
import { useKindText } from '../form/kindText'
import { type Window, windowWords } from '../form/MaintenanceWindows'
import { useText } from '../text'

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder component="section" aria-label={title}>
      <Group className="head">
        <Title order={2} size="h6">
          {title}
        </Title>
      </Group>
      {children}
    </Paper>
  )
}

/** What a monitor expects, says and starts. */
export function Side({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const k = useKindText()
  const isManager = useReaches('manager')
  const said = (monitor.last_event as { message?: unknown }).message
  return (
    <Stack gap="md">
      {typeof said === 'string' && said ? (
        <Card title={t.said}>
          <Text size="sm" p="md" className="mon-said">
            {said}
          </Text>
        </Card>
      ) : null}
      {monitor.type === 'nested' ? <Members ids={monitor.monitors ?? []} /> : null}
      <Card title={t.expected}>
        <Text size="sm" px="md" pt="sm">
          {k.about[monitor.type]}
        </Text>
        <Expected monitor={monitor} />
      </Card>
      {isManager ? <Starts monitor={monitor} /> : null}
      <Card title={t.maintenance}>
        <Text
          size="sm"
          p="md"
          component="div"
          c={monitor.maintenance.length ? undefined : 'dimmed'}
        >
          {monitor.maintenance.length
            ? monitor.maintenance.map((one, i) => <div key={i}>{windowWords(one as Window)}</div>)
            : t.maintenanceNone}
        </Text>
      </Card>
    </Stack>
  )
}

function Expected({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const k = useKindText()
  const config = { ...monitor.config, ...(monitor.config.limit as object) } as Record<
    string,
    unknown
  >
  const rows = fieldsOf(monitor.type)
    .filter(({ name, ask, seldom, first }) => {
      const isDefault = seldom && config[name] === first
      return ask !== 'monitors' && !isDefault && isSaid(config[name])
    })
    .map(({ name, ask }) => [k.field[name]!.label, said(config[name], ask === 'seconds')])
  return (
    <dl className="mon-list">
      <dt>{t.checked}</dt>
      <dd>{t.every(interval(monitor.looptime))}</dd>
      {rows.map(([label, value]) => (
        <div key={label} style={{ display: 'contents' }}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <dt>{k.field.fail_threshold!.label}</dt>
      <dd>{monitor.fail_threshold}</dd>
      <dt>{k.field.failure_severity!.label}</dt>
      <dd>{k.severities[monitor.failure_severity]}</dd>
    </dl>
  )
}

function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function said(value: unknown, isTime: boolean): string {
  if (isTime) return interval(Number(value))
  if (Array.isArray(value)) return value.join(' ')
  if (typeof value === 'object') return headerText(value)
  return value === true ? '✓' : String(value)
}

function Members({ ids }: { ids: string[] }) {
  const t = useText()
  const { data = [] } = useQuery(monitorNamesQuery)
  const members = data.filter((one) => ids.includes(one.id))
  return (
    <Card title={t.members}>
      {members.map((one) => (
        <Go key={one.id} to={`/monitors/${one.id}`} className="row mon-trouble">
          <StateIcon look={watchLook(one)} title={watchWord(one)} />
          <span className="clip">{one.name}</span>
          <Text size="xs" c="dimmed">
            {one.hostname}
          </Text>
        </Go>
      ))}
    </Card>
  )
}

function Starts({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const names = useQueries({
    queries: monitor.triggers.map(({ task_id, workflow_id }) => ({
      queryKey: [task_id ? 'task' : 'workflow', task_id ?? workflow_id, 'name'],
      queryFn: async () => {
        const path = { params: { path: { id: (task_id ?? workflow_id)! } } }
        const found = await ok<{ name: string }>(
          task_id ? api.GET('/task/{id}', path) : api.GET('/workflows/{id}', path),
        )
        return found.name
      },
    })),
  })
  return (
    <Card title={t.starts}>
      {monitor.triggers.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {t.startsNone}
        </Text>
      ) : (
        monitor.triggers.map((one, i) => (
          <Go
            key={`${one.event_name} ${one.task_id ?? one.workflow_id}`}
            to={one.task_id ? `/tasks/${one.task_id}` : `/workflows/${one.workflow_id}`}
            className="row mon-start"
          >
            <span className="clip">{names[i]?.data ?? one.task_id ?? one.workflow_id}</span>
            <Badge size="sm">{t.onEvent[one.event_name] ?? t.on(one.event_name)}</Badge>
          </Go>
        ))
      )}
    </Card>
  )
}
