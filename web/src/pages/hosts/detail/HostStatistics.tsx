import { Button, Group, Paper, SegmentedControl, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Gauge } from 'lucide-react'
import { lazy, Suspense } from 'react'
import type { Host } from '../../../api/queries/monitoring/host'
import { monitorHistoryQuery, monitorsQuery } from '../../../api/queries/monitoring/monitor'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { metricsOf, seriesOf } from '../../../ui/chart/series'
import { firstRange, RANGES, type Range } from '../../../ui/chart/timeRange'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useText } from '../text'

const hostRoute = getRouteApi('/$customer/hosts/$id')

const TimeChart = lazy(() =>
  import('../../../ui/chart/TimeChart').then((module) => ({ default: module.TimeChart })),
)
const HOUR = 3_600_000
const LENGTH: Record<Range, number> = {
  '1h': HOUR,
  '24h': 24 * HOUR,
  '7d': 168 * HOUR,
  '30d': 720 * HOUR,
}

/** Figures of the host's statistics monitor. */
export function HostStatistics({ host }: { host: Host }) {
  const t = useText()
  const navigate = hostRoute.useNavigate()
  const { range = firstRange(host.creation_date) } = hostRoute.useSearch()
  const monitors = useQuery(monitorsQuery({ host: host.id, kind: 'dstat' }))
  const monitor = monitors.data?.rows[0]
  return (
    <Paper withBorder component="section" aria-label={t.statistics}>
      <Group className="head" justify="space-between">
        <Title order={2} size="h6">
          {t.statistics}
        </Title>
        {monitor ? (
          <SegmentedControl
            size="xs"
            aria-label={t.range}
            value={range}
            onChange={(next) =>
              void navigate({
                search: { range: next as Range },
                replace: true,
                resetScroll: false,
              })
            }
            data={RANGES.map((range) => ({ value: range, label: t.ranges[range] }))}
          />
        ) : null}
      </Group>
      <QueryResult query={monitors}>
        {() => (monitor ? <Chart id={monitor.id} range={range} /> : <None host={host} />)}
      </QueryResult>
    </Paper>
  )
}

function Chart({ id, range }: { id: string; range: Range }) {
  const from = Math.floor(Date.now() / 60_000) * 60_000 - LENGTH[range]
  const single = range === '1h' ? { step: 0 } : {}
  const query = useQuery(monitorHistoryQuery(id, { from: new Date(from).toISOString(), ...single }))
  return (
    <QueryResult query={query}>
      {({ points, step }) => (
        <Stack p="md">
          <Suspense>
            <TimeChart
              series={seriesOf(points, step, metricsOf(points))}
              from={from / 1000}
              to={Date.now() / 1000}
            />
          </Suspense>
        </Stack>
      )}
    </QueryResult>
  )
}

function None({ host }: { host: Host }) {
  const t = useText()
  const may = useCan()('monitor.edit')
  return (
    <EmptyState icon={Gauge} title={t.noStatistics}>
      {may ? (
        <Button component={AppLink} to="/monitors/new" search={{ kind: 'dstat', host: host.id }}>
          {t.addStatistics}
        </Button>
      ) : null}
    </EmptyState>
  )
}
