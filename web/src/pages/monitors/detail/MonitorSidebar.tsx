import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, ok } from '../../../api/client'
import { type Monitor, monitorsByIdQuery } from '../../../api/queries/monitoring/monitor'
import { useHasLevel } from '../../../app/session'
import { interval } from '../../../lib/format'
import { monitorLook, monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { StateIcon } from '../../../ui/state/StateIcon'
import { fileNamesQuery } from '../form/fileNames'
import { headerText } from '../form/HeadersInput'
import { type FieldInput, fieldsOf, useKindHelp } from '../form/kinds'
import { useKindText } from '../form/kindText'
import { type MaintenanceWindow, windowText } from '../form/MaintenanceWindows'
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

/** The expectations, reports and triggers of a monitor. */
export function MonitorSidebar({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const kindHelp = useKindHelp()
  const isManager = useHasLevel('manager')
  const message = (monitor.last_event as { message?: unknown }).message
  return (
    <Stack gap="md">
      {typeof message === 'string' && message ? (
        <Card title={t.lastResult}>
          <Text size="sm" p="md" className="mon-said">
            {message}
          </Text>
        </Card>
      ) : null}
      {monitor.type === 'nested' ? <Members ids={monitor.monitors ?? []} /> : null}
      <Card title={t.expected}>
        <Text size="sm" px="md" pt="sm">
          {kindHelp[monitor.type]}
        </Text>
        <ExpectedResult monitor={monitor} />
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
            ? monitor.maintenance.map((window, i) => (
                <div key={i}>{windowText(window as MaintenanceWindow)}</div>
              ))
            : t.maintenanceNone}
        </Text>
      </Card>
    </Stack>
  )
}

function ExpectedResult({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const k = useKindText()
  const config = { ...monitor.config, ...(monitor.config.limit as object) } as Record<
    string,
    unknown
  >
  const rows = fieldsOf(monitor.type)
    .filter(({ name, input, seldom, first }) => {
      const isDefault = seldom && config[name] === first
      return input !== 'monitors' && !isDefault && isSet(config[name])
    })
    .map(({ name, input }) => ({
      label: k.field[name]!.label,
      value: settingNode(config[name], input),
    }))
  return (
    <dl className="mon-list">
      <dt>{t.checked}</dt>
      <dd>{t.every(interval(monitor.looptime))}</dd>
      {rows.map(({ label, value }) => (
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

/** The name of a stored file, which managers may read; others see its id. */
function StoredFile({ id }: { id: string }) {
  const isManager = useHasLevel('manager')
  const { data = [] } = useQuery({ ...fileNamesQuery, enabled: isManager })
  const name = data.find((file) => file.id === id)?.filename
  return name ? <AppLink to={`/scripts/${id}`}>{name}</AppLink> : id
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function settingNode(value: unknown, input: FieldInput): ReactNode {
  if (input === 'script' || input === 'file') return <StoredFile id={String(value)} />
  if (input === 'seconds') return interval(Number(value))
  if (Array.isArray(value)) return value.join(' ')
  if (typeof value === 'object') return headerText(value)
  return value === true ? '✓' : String(value)
}

function Members({ ids }: { ids: string[] }) {
  const t = useText()
  const { data: members = [] } = useQuery(monitorsByIdQuery(ids))
  return (
    <Card title={t.members}>
      {members.map((member) => (
        <AppLink key={member.id} to={`/monitors/${member.id}`} className="row mon-trouble">
          <StateIcon look={monitorLook(member)} title={monitorStateText(member)} />
          <span className="clip">{member.name}</span>
          <Text size="xs" c="dimmed">
            {member.hostname}
          </Text>
        </AppLink>
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
        const target = await ok<{ name: string }>(
          task_id ? api.GET('/task/{id}', path) : api.GET('/workflows/{id}', path),
        )
        return target.name
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
        monitor.triggers.map((trigger, i) => (
          <AppLink
            key={`${trigger.event_name} ${trigger.task_id ?? trigger.workflow_id}`}
            to={trigger.task_id ? `/tasks/${trigger.task_id}` : `/workflows/${trigger.workflow_id}`}
            className="row mon-start"
          >
            <span className="clip">{names[i]?.data ?? trigger.task_id ?? trigger.workflow_id}</span>
            <Badge size="sm">{t.onEvent[trigger.event_name] ?? t.on(trigger.event_name)}</Badge>
          </AppLink>
        ))
      )}
    </Card>
  )
}
