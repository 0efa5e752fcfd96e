import { Button, Group, Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Activity, Server } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { countsQuery } from '../../../api/queries/counts'
import { fewHostsQuery } from '../../../api/queries/monitoring/host'
import { type MonitorLine, monitorsQuery } from '../../../api/queries/monitoring/monitor'
import { useCan } from '../../../app/session'
import { monitorLook, monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { uptime } from '../../../ui/monitoring/display'
import {
  MonitorChecks,
  MonitorMarks,
  MonitorSubtitle,
  MonitorTrend,
  MonitorValue,
} from '../../../ui/monitoring/MonitorRow'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'

const dashboardRoute = getRouteApi('/$customer/')

const InstallLine = lazy(() =>
  import('../../../ui/hosts/InstallLine').then((module) => ({ default: module.InstallLine })),
)
const SHOWN = 12

/** The monitors of the card, as its address asks for. */
export function useMonitorsQuery() {
  const { show } = dashboardRoute.useSearch()
  return useQuery(monitorsQuery(show ? { state: show } : {}, 0, SHOWN))
}

export function MonitorsCard() {
  const t = useText()
  const { show } = dashboardRoute.useSearch()
  const navigate = dashboardRoute.useNavigate()
  const filter = show ? { state: show } : {}
  const query = useMonitorsQuery()
  return (
    <Paper withBorder component="section" aria-label={t.monitors}>
      <Group className="head" wrap="nowrap">
        <Title order={2} size="h6">
          {t.monitors}
        </Title>
        <Summary />
        <Button
          ml="auto"
          size="compact-xs"
          variant={show ? 'filled' : 'default'}
          className="dash-which"
          aria-pressed={!!show}
          onClick={() =>
            void navigate({
              search: show ? {} : { show: 'problems' },
              replace: true,
              resetScroll: false,
            })
          }
        >
          {t.onlyProblems}
        </Button>
      </Group>
      <QueryResult query={query}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <Nothing filtered={!!show} />
          ) : (
            <>
              {rows.map((line) => (
                <Row key={line.id} line={line} />
              ))}
              {total !== null && total > rows.length ? (
                <AppLink to="/monitors" search={filter} className="row dash-more">
                  {t.allMonitors(total)}
                </AppLink>
              ) : null}
            </>
          )
        }
      </QueryResult>
    </Paper>
  )
}

function Row({ line }: { line: MonitorLine }) {
  const word = monitorStateText(line)
  return (
    <AppLink to={`/monitors/${line.id}`} className="row dash-mon" data-state={line.state}>
      <StateIcon look={monitorLook(line)} title={word} />
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {line.name}
          <MonitorMarks line={line} />
        </Text>
        <MonitorSubtitle line={line} />
      </div>
      <div className="hide-sm">
        <MonitorChecks line={line} />
      </div>
      <div className="hide-md">
        <MonitorTrend line={line} />
      </div>
      <MonitorValue line={line} />
      <Text size="xs" c="dimmed" ta="right" className="num hide-sm">
        {uptime(line.uptime_day)}
      </Text>
    </AppLink>
  )
}

function Summary() {
  const t = useText()
  const { data } = useQuery(countsQuery)
  if (!data) return null
  const { failure, updates_stopped, unknown, paused, normal } = data.monitors
  if (normal > 0 && failure + updates_stopped + unknown === 0)
    return (
      <Group gap={6} wrap="nowrap" className="dash-well" role="status">
        <StateIcon look="ok" size={14} />
        <span className="clip">{t.allWell}</span>
      </Group>
    )
  const parts = [
    failure && t.failing(failure),
    updates_stopped && t.notReporting(updates_stopped),
    unknown && t.unknown(unknown),
    paused && t.paused(paused),
    normal && t.normal(normal),
  ]
  return (
    <Text size="xs" c="dimmed" className="clip">
      {parts.filter(Boolean).join(' · ')}
    </Text>
  )
}

/** No monitors: the first step, which is a host where there is none. */
function Nothing({ filtered }: { filtered: boolean }) {
  const t = useText()
  const may = useCan()('monitor.edit')
  const { data: counts } = useQuery(countsQuery)
  const hosts = useQuery(fewHostsQuery(1))
  if (filtered)
    return (
      <EmptyState title={t.allWell}>
        {counts ? t.allWellBody(counts.monitors.normal) : null}
      </EmptyState>
    )
  if (hosts.data?.rows.length)
    return (
      <EmptyState icon={Activity} title={t.addMonitor}>
        <p>{t.addMonitorBody}</p>
        {may ? (
          <Button component={AppLink} to="/monitors/new">
            {t.newMonitor}
          </Button>
        ) : null}
      </EmptyState>
    )
  return (
    <EmptyState icon={Server} title={t.addHost}>
      <p>{t.addHostBody}</p>
      <Suspense>
        <InstallLine />
      </Suspense>
    </EmptyState>
  )
}
