import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Monitor, monitorHistoryQuery } from '../../api/queries/monitor'
import { dateTime, span } from '../../lib/format'
import { StateStrip } from '../../ui/chart/StateStrip'
import { troublesOf } from '../../ui/chart/series'
import { Loaded } from '../../ui/Loaded'
import { StateIcon } from '../../ui/StateIcon'
import { Frame } from './Frame'
import { RangeControl, useRange } from './range'
import { monitorHistoryRoute } from './routes'
import { useText } from './text'

const SINGLES_MS = 6 * 3_600_000
const SHOWN = 200
const SECONDS = {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const

export function HistoryPage() {
  const { id } = monitorHistoryRoute.useParams()
  return (
    <Frame id={id} tab="history">
      {(monitor) => (
        <Stack gap="md">
          <Troubles monitor={monitor} />
          <Singles monitor={monitor} />
        </Stack>
      )}
    </Frame>
  )
}

function Troubles({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const { range = '7d' } = monitorHistoryRoute.useSearch()
  const { query, from, to } = useRange(monitor.id, range)
  return (
    <Paper withBorder component="section" aria-label={t.troubles}>
      <Group className="head" justify="space-between">
        <Title order={2} size="h6">
          {t.troubles}
        </Title>
        <RangeControl value={range} />
      </Group>
      <Loaded query={query} lines={3}>
        {({ points }) => (
          <>
            <Stack px="md" py="sm">
              <StateStrip points={points} from={from} to={to} />
            </Stack>
            {troublesOf(points).map((one) => (
              <div className="row mon-trouble" key={one.from}>
                <StateIcon look="fail" title={t.bad} />
                <div className="clip">
                  <div className="num">
                    {dateTime(one.from)}{' '}
                    <Text span size="xs" c="dimmed">
                      {one.isOpen ? t.stillOpen : `${t.lasted} ${span(one.from, one.to)}`}
                    </Text>
                  </div>
                  <Text size="xs" c="dimmed" className="clip">
                    {one.message}
                  </Text>
                </div>
                <Text size="xs">{t.failedOf(one.failed, one.checks)}</Text>
              </div>
            ))}
            {points.every((point) => point.up === 1) ? (
              <Text size="sm" c="dimmed" p="md" pt={0}>
                {t.troublesNone}
              </Text>
            ) : null}
          </>
        )}
      </Loaded>
    </Paper>
  )
}

/** Each check that is still remembered, the newest first. */
function Singles({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const [from] = useState(() => new Date(Date.now() - SINGLES_MS).toISOString())
  const query = useQuery(monitorHistoryQuery(monitor.id, { from, step: 0 }))
  return (
    <Paper withBorder component="section" aria-label={t.singles}>
      <Group className="head">
        <Title order={2} size="h6">
          {t.singles}
        </Title>
      </Group>
      <Loaded query={query}>
        {({ points }) =>
          points.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {t.singlesNone}
            </Text>
          ) : (
            points
              .slice(-SHOWN)
              .toReversed()
              .map((point) => (
                <div className="row mon-check" key={point.at}>
                  <StateIcon look={point.up ? 'ok' : 'fail'} title={point.up ? t.good : t.bad} />
                  <time dateTime={point.at} className="num">
                    {dateTime(point.at, SECONDS)}
                  </time>
                  <span className="num">
                    {point.values.ms ? `${Math.round(point.values.ms.avg)} ms` : ''}
                  </span>
                  <Text size="xs" className="clip" title={point.message}>
                    {point.message}
                  </Text>
                </div>
              ))
          )
        }
      </Loaded>
    </Paper>
  )
}
