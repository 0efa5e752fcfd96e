import { Button, Group, Paper, Text, Title } from '@mantine/core'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  api,
  ok,
  okWithTotal,
  type RowsWithTotal,
  type Shape,
  untypedQuery,
} from '../../../api/client'
import type { Host } from '../../../api/queries/monitoring/host'
import { monitorsQuery } from '../../../api/queries/monitoring/monitor'
import { jobLook, jobStateText, monitorLook, monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { MonitorChecks, MonitorSubtitle, MonitorValue } from '../../../ui/monitoring/MonitorRow'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration } from '../../../ui/state/Time'
import { useWords } from '../../../ui/text'
import { useText } from '../text'

interface CardProps<T> {
  title: string
  none: string
  query: UseQueryResult<T[] | RowsWithTotal<T[]>>
  more?: ReactNode
  /** Where those are that the card does not show. */
  rest?: { to: string; search: Record<string, unknown> }
  children: (row: T) => ReactNode
}

function Card<T>({ title, none, query, more, rest, children }: CardProps<T>) {
  const w = useWords()
  return (
    <Paper withBorder component="section" aria-label={title}>
      <Group className="head" justify="space-between">
        <Title order={2} size="h6">
          {title}
        </Title>
        {more}
      </Group>
      <QueryResult query={query} lines={3}>
        {(data) => {
          const rows = 'rows' in data ? data.rows : data
          const remaining = 'rows' in data ? (data.total ?? 0) - rows.length : 0
          if (rows.length === 0)
            return (
              <Text size="sm" c="dimmed" p="md">
                {none}
              </Text>
            )
          return (
            <>
              {rows.map(children)}
              {rest && remaining > 0 ? (
                <AppLink {...rest} className="row host-rest">
                  {w.andMore(remaining)}
                </AppLink>
              ) : null}
            </>
          )
        }}
      </QueryResult>
    </Paper>
  )
}

export function HostMonitors({ host }: { host: Host }) {
  const t = useText()
  const query = useQuery(monitorsQuery({ host: host.id }))
  const rest = { to: '/monitors', search: { host: host.id } }
  return (
    <Card title={t.monitors} none={t.noMonitors} query={query} rest={rest}>
      {(line) => (
        <AppLink key={line.id} to={`/monitors/${line.id}`} className="row host-monitor">
          <StateIcon look={monitorLook(line)} title={monitorStateText(line)} />
          <div className="clip">
            <Text size="sm" fw={550} className="clip">
              {line.name}
            </Text>
            <MonitorSubtitle line={line} />
          </div>
          <div className="hide-sm">
            <MonitorChecks line={line} />
          </div>
          <MonitorValue line={line} />
        </AppLink>
      )}
    </Card>
  )
}

export function HostTasks({ host }: { host: Host }) {
  const t = useText()
  const query = useQuery({
    queryKey: ['task', 'list', 'of-host', host.id],
    queryFn: () =>
      okWithTotal(
        api.GET('/-/board/tasks', {
          params: {
            query: untypedQuery({
              'where[host_id]': host.id,
              'sort[name]': 1,
              limit: 50,
              count: true,
            }),
          },
        }),
      ),
  })
  const rest = { to: '/tasks', search: { host: host.id } }
  return (
    <Card title={t.tasks} none={t.noTasks} query={query} rest={rest}>
      {(task) => (
        <AppLink key={task.id} to={`/tasks/${task.id}`} className="row host-task">
          <span className="clip">{task.name}</span>
          {task.last_job ? (
            <StateIcon look={jobLook(task.last_job)} title={jobStateText(task.last_job)} />
          ) : null}
        </AppLink>
      )}
    </Card>
  )
}

export function HostJobs({ host }: { host: Host }) {
  const t = useText()
  const query = useQuery({
    queryKey: ['job', 'list', 'of-host', host.id],
    queryFn: async () => {
      const query = untypedQuery({ 'where[host_id]': host.id, limit: 8, look: 20_000 })
      return (await ok(api.GET('/job', { params: { query } }))) as Shape<'JobRecord'>[]
    },
  })
  const more = (
    <Button
      component={AppLink}
      to="/jobs"
      search={{ host: host.id }}
      size="compact-xs"
      variant="subtle"
      color="gray"
    >
      {t.allJobs}
    </Button>
  )
  return (
    <Card title={t.jobs} none={t.noJobs} query={query} more={more}>
      {(job) => (
        <AppLink key={job.id} to={`/jobs/${job.id}`} className="row host-job">
          <StateIcon look={jobLook(job)} title={jobStateText(job)} />
          <span className="clip">{job.name}</span>
          <Text size="xs" c="dimmed" component="div" ta="right">
            <Duration from={job.started_at} to={job.ended_at} /> · <Ago at={job.creation_date} />
          </Text>
        </AppLink>
      )}
    </Card>
  )
}
