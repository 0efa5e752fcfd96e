import { Group, Paper, Stack, Text, Title, Tooltip } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Shape } from '../../../api/client'
import type { Monitor } from '../../../api/queries/monitoring/monitor'
import { StateStrip } from '../../../ui/chart/StateStrip'
import { metricsOf, seriesOf } from '../../../ui/chart/series'
import { firstRange } from '../../../ui/chart/timeRange'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { uptime } from '../../../ui/monitoring/display'
import { Ago, useNow } from '../../../ui/state/Time'
import { useText } from '../text'
import { MonitorLayout } from './MonitorLayout'
import { MonitorSidebar } from './MonitorSidebar'
import { ProcessList } from './ProcessList'
import { RangeControl, useRange } from './RangeControl'

const monitorRoute = getRouteApi('/$customer/monitors/$id')

const TimeChart = lazy(() =>
  import('../../../ui/chart/TimeChart').then((module) => ({ default: module.TimeChart })),
)

export function MonitorPage() {
  const { id } = monitorRoute.useParams()
  return (
    <MonitorLayout id={id} tab="overview">
      {(monitor) => (
        <div className="mon-page">
          <MonitorBody monitor={monitor} />
          <MonitorSidebar monitor={monitor} />
        </div>
      )}
    </MonitorLayout>
  )
}

function MonitorBody({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const { range = firstRange(monitor.creation_date) } = monitorRoute.useSearch()
  const { query, from, to } = useRange(monitor.id, range)
  return (
    <Stack gap="md">
      <Paper withBorder component="section" aria-label={t.strip}>
        <Group className="head" justify="space-between">
          <Title order={2} size="h6">
            {t.strip}
          </Title>
          <RangeControl value={range} />
        </Group>
        <QueryResult query={query} lines={2}>
          {(history) => (
            <>
              <Stack px="md" pt="sm">
                <StateStrip points={history.points} from={from} to={to} />
              </Stack>
              <Facts monitor={monitor} history={history} />
            </>
          )}
        </QueryResult>
      </Paper>
      {query.data && metricsOf(query.data.points).length ? (
        <Paper withBorder component="section" aria-label={t.charts}>
          <Group className="head">
            <Title order={2} size="h6">
              {t.charts}
            </Title>
          </Group>
          <Stack p="md">
            <Suspense>
              <TimeChart
                series={seriesOf(query.data.points, query.data.step, metricsOf(query.data.points))}
                from={from / 1000}
                to={to / 1000}
              />
            </Suspense>
          </Stack>
        </Paper>
      ) : null}
      {monitor.type === 'psaux' && monitor.host_id ? (
        <ProcessList hostId={monitor.host_id} checkedAt={monitor.last_check} />
      ) : null}
    </Stack>
  )
}

function Facts({ monitor, history }: { monitor: Monitor; history: Shape<'MonitorHistory'> }) {
  const t = useText()
  return (
    <div className="mon-facts">
      <div className="mon-fact">
        <div>{t.uptime}</div>
        <div className="num">{uptime(history.uptime)}</div>
      </div>
      <div className="mon-fact">
        <Tooltip label={t.coverageHelp} multiline maw={260}>
          <div>{t.coverage}</div>
        </Tooltip>
        <div className="num">{uptime(history.known)}</div>
      </div>
      <div className="mon-fact">
        <div>{t.lastCheck}</div>
        <div>
          {monitor.last_check ? <Ago at={monitor.last_check} /> : <Countdown monitor={monitor} />}
        </div>
      </div>
    </div>
  )
}

/** Not checked yet: when the first check is due. */
function Countdown({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const now = useNow()
  if (!monitor.enable) return <Text size="sm">{t.notChecked}</Text>
  const due = Date.parse(monitor.creation_date) + monitor.looptime
  const seconds = Math.ceil((due - now) / 1000)
  return <span role="timer">{seconds > 0 ? t.firstIn(seconds) : t.firstSoon}</span>
}
