import { Button, Group, Paper, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { actingFor, ROOT } from '../../../api/client'
import {
  type Indicator,
  indicatorHistoryQuery,
  indicatorQuery,
} from '../../../api/queries/monitoring/indicator'
import { useCan, useReaches } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { watchLook, watchWord } from '../../../lib/state'
import { Go } from '../../../ui/AppLink'
import { firstRange, RANGES, type Range } from '../../../ui/chart/timeRange'
import { CopyField } from '../../../ui/form/CopyField'
import { Loaded } from '../../../ui/layout/QueryResult'
import { brief, isLarge } from '../../../ui/monitoring/display'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useWords } from '../../../ui/text'
import { useText } from '../text'
import { Access } from './IndicatorAccess'
import { Badge } from './IndicatorBadge'
import { Starts } from './IndicatorTriggers'
import '../indicators.css'

const indicatorRoute = getRouteApi('/$customer/indicators/$id')

const TimeChart = lazy(() =>
  import('../../../ui/chart/TimeChart').then((found) => ({ default: found.TimeChart })),
)
const Large = lazy(() =>
  import('../../../ui/indicators/IndicatorFull').then((found) => ({ default: found.Large })),
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
  const isManager = useReaches('manager')
  return (
    <Loaded query={query}>
      {(one) => (
        <Stack gap="md">
          <Head one={one} />
          <div className="ind-cols">
            <Stack gap="md">
              {isLarge(one) ? <Shown one={one} /> : null}
              <History one={one} />
            </Stack>
            <Stack gap="md">
              <Push one={one} />
              <Badge one={one} />
              {isManager ? <Access one={one} /> : null}
              {isManager ? <Starts one={one} /> : null}
            </Stack>
          </div>
        </Stack>
      )}
    </Loaded>
  )
}

function Head({ one }: { one: Indicator }) {
  const t = useText()
  const w = useWords()
  const may = useCan()('indicator.edit')
  return (
    <Group justify="space-between">
      <Group gap={12} wrap="nowrap" miw={0}>
        <StateIcon look={watchLook(one)} size={22} title={watchWord(one)} />
        <div className="clip">
          <Text className="num clip" fw={600} size="xl" role="status">
            {isLarge(one) ? one.title : brief(one)}
            {one.type === 'progress' ? ' %' : ''}
          </Text>
          <Text size="xs" c="dimmed" component="div">
            {watchWord(one)} · {t.kinds[one.type]} · {t.pushed} <Ago at={one.last_push} />
          </Text>
        </div>
      </Group>
      {may ? (
        <Button
          component={Go}
          to={`/indicators/${one.id}/edit`}
          variant="default"
          leftSection={<Pencil size={14} />}
        >
          {w.edit}
        </Button>
      ) : null}
    </Group>
  )
}

function History({ one }: { one: Indicator }) {
  const t = useText()
  const navigate = indicatorRoute.useNavigate()
  const { range = firstRange(one.creation_date) } = indicatorRoute.useSearch()
  const from = Math.floor(Date.now() / 60_000) * 60_000 - LENGTH[range]
  const query = useQuery(indicatorHistoryQuery(one.id, new Date(from).toISOString()))
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
      <Loaded query={query}>
        {(points) =>
          points.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {t.noHistory}
            </Text>
          ) : WORDS.has(one.type) ? (
            <Words points={points} />
          ) : (
            <Stack p="md">
              <Suspense>
                <TimeChart
                  series={{
                    times: points.map((point) => Date.parse(point.date) / 1000),
                    lines: [
                      {
                        name: one.title,
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
      </Loaded>
    </Paper>
  )
}

function Shown({ one }: { one: Indicator }) {
  const t = useText()
  return (
    <Paper withBorder p="md" component="section" aria-label={t.value}>
      <div className="ind-large">
        <Suspense>
          <Large one={one} />
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
function Push({ one }: { one: Indicator }) {
  const t = useText()
  const value = EXAMPLE[one.type] ?? '42'
  const url = `${location.origin}${ROOT}${encodeURIComponent(actingFor())}/indicator/title/${encodeURIComponent(one.title)}`
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
