import { Button, Group, Paper, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { currentCustomer, ROOT } from '../../../api/client'
import {
  type Indicator,
  indicatorHistoryQuery,
  indicatorQuery,
} from '../../../api/queries/monitoring/indicator'
import { useCan, useHasLevel } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { monitorLook, monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { firstRange, RANGES, type Range } from '../../../ui/chart/timeRange'
import { CopyField } from '../../../ui/form/CopyField'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { isLarge, shortText } from '../../../ui/monitoring/display'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useWords } from '../../../ui/text'
import { useText } from '../text'
import { IndicatorAccess } from './IndicatorAccess'
import { IndicatorBadge } from './IndicatorBadge'
import { IndicatorTriggers } from './IndicatorTriggers'
import '../indicators.css'

const indicatorRoute = getRouteApi('/$customer/indicators/$id')

const TimeChart = lazy(() =>
  import('../../../ui/chart/TimeChart').then((module) => ({ default: module.TimeChart })),
)
const Large = lazy(() =>
  import('../../../ui/indicators/IndicatorFull').then((module) => ({
    default: module.IndicatorFull,
  })),
)
/** Their history is words, not numbers. */
const WORDS = new Set(['text', 'html', 'file'])
const HOUR = 3_600_000
const LENGTH: Record<Range, number> = {
  '1h': HOUR,
  '24h': 24 * HOUR,
  '7d': 168 * HOUR,
  '30d': 720 * HOUR,
}

export function IndicatorPage() {
  const { id } = indicatorRoute.useParams()
  const query = useQuery(indicatorQuery(id))
  usePageTitle(query.data?.title ?? '')
  const isManager = useHasLevel('manager')
  return (
    <QueryResult query={query}>
      {(indicator) => (
        <Stack gap="md">
          <Head indicator={indicator} />
          <div className="ind-cols">
            <Stack gap="md">
              {isLarge(indicator) ? <CurrentValue indicator={indicator} /> : null}
              <History indicator={indicator} />
            </Stack>
            <Stack gap="md">
              <Push indicator={indicator} />
              <IndicatorBadge indicator={indicator} />
              {isManager ? <IndicatorAccess indicator={indicator} /> : null}
              {isManager ? <IndicatorTriggers indicator={indicator} /> : null}
            </Stack>
          </div>
        </Stack>
      )}
    </QueryResult>
  )
}

function Head({ indicator }: { indicator: Indicator }) {
  const t = useText()
  const w = useWords()
  const may = useCan()('indicator.edit')
  return (
    <Group justify="space-between">
      <Group gap={12} wrap="nowrap" miw={0}>
        <StateIcon look={monitorLook(indicator)} size={22} title={monitorStateText(indicator)} />
        <div className="clip">
          <Text className="num clip" fw={600} size="xl" role="status">
            {isLarge(indicator) ? indicator.title : shortText(indicator)}
            {indicator.type === 'progress' ? ' %' : ''}
          </Text>
          <Text size="xs" c="dimmed" component="div">
            {monitorStateText(indicator)} · {t.kinds[indicator.type]} · {t.pushed}{' '}
            <Ago at={indicator.last_push} />
          </Text>
        </div>
      </Group>
      {may ? (
        <Button
          component={AppLink}
          to={`/indicators/${indicator.id}/edit`}
          variant="default"
          leftSection={<Pencil size={14} />}
        >
          {w.edit}
        </Button>
      ) : null}
    </Group>
  )
}

function History({ indicator }: { indicator: Indicator }) {
  const t = useText()
  const navigate = indicatorRoute.useNavigate()
  const { range = firstRange(indicator.creation_date) } = indicatorRoute.useSearch()
  const from = Math.floor(Date.now() / 60_000) * 60_000 - LENGTH[range]
  const query = useQuery(indicatorHistoryQuery(indicator.id, new Date(from).toISOString()))
  return (
    <Paper withBorder component="section" aria-label={t.history}>
      <Group className="head" justify="space-between">
        <Title order={2} size="h6">
          {t.history}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={t.range}
          value={range}
          onChange={(next) =>
            void navigate({ search: { range: next as Range }, replace: true, resetScroll: false })
          }
          data={RANGES.map((name) => ({ value: name, label: t.ranges[name] }))}
        />
      </Group>
      <QueryResult query={query}>
        {(points) =>
          points.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {t.noHistory}
            </Text>
          ) : WORDS.has(indicator.type) ? (
            <Words points={points} />
          ) : (
            <Stack p="md">
              <Suspense>
                <TimeChart
                  series={{
                    times: points.map((point) => Date.parse(point.date) / 1000),
                    lines: [
                      {
                        name: indicator.title,
                        values: points.map((p) => (p.value === '' ? null : Number(p.value))),
                      },
                    ],
                  }}
                  from={from / 1000}
                  to={Date.now() / 1000}
                />
              </Suspense>
            </Stack>
          )
        }
      </QueryResult>
    </Paper>
  )
}

function CurrentValue({ indicator }: { indicator: Indicator }) {
  const t = useText()
  return (
    <Paper withBorder p="md" component="section" aria-label={t.value}>
      <div className="ind-large">
        <Suspense>
          <Large indicator={indicator} />
        </Suspense>
      </div>
    </Paper>
  )
}

function Words({ points }: { points: { date: string; value: string | number; state: string }[] }) {
  const t = useText()
  return (
    <Table fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.time}</Table.Th>
          <Table.Th>{t.value}</Table.Th>
          <Table.Th>{t.state}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {points
          .slice(-100)
          .toReversed()
          .map((point) => (
            <Table.Tr key={point.date}>
              <Table.Td>{dateTime(point.date)}</Table.Td>
              <Table.Td className="ind-words">{point.value}</Table.Td>
              <Table.Td>{t.states[point.state] ?? point.state}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  )
}

const EXAMPLE: Record<string, string> = {
  text: '"…"',
  html: '"<b>…</b>"',
  file: '"…"',
  chart: '{"series": [{"name": "a", "values": [1, 2, 3]}]}',
}

/** The one call that pushes a value. */
function Push({ indicator }: { indicator: Indicator }) {
  const t = useText()
  const value = EXAMPLE[indicator.type] ?? '42'
  const url = `${location.origin}${ROOT}${encodeURIComponent(currentCustomer())}/indicator/title/${encodeURIComponent(indicator.title)}`
  const line = `curl -X PATCH -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d '{"value": ${value}}' '${url}'`
  return (
    <Paper withBorder p="md">
      <Stack gap={8}>
        <Title order={2} size="h6">
          {t.push}
        </Title>
        <CopyField value={line} label={t.push} />
      </Stack>
    </Paper>
  )
}
