import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { Shape } from '../../../api/client'
import {
  type Monitor,
  monitorHistoryQuery,
  monitorStateLogQuery,
} from '../../../api/queries/monitoring/monitor'
import { dateTime, span } from '../../../lib/format'
import { monitorLook, monitorStateText } from '../../../lib/state'
import { StateStrip } from '../../../ui/chart/StateStrip'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'
import { MonitorLayout } from './MonitorLayout'
import { RangeControl, useRange } from './RangeControl'
import { type Span, spansOf } from './stateLog'

const monitorHistoryRoute = getRouteApi('/$customer/monitors/$id/history')

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
    <MonitorLayout id={id} tab="history">
      {(monitor) => (
        <Stack gap="md">
          <Changes monitor={monitor} />
          <Singles monitor={monitor} />
        </Stack>
      )}
    </MonitorLayout>
  )
}

function Changes({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const { range = '7d' } = monitorHistoryRoute.useSearch()
  const { query, from, to } = useRange(monitor.id, range)
  const turns = useQuery(monitorStateLogQuery(monitor.id, new Date(from).toISOString()))
  return (
    <Paper withBorder component="section" aria-label={t.stateChanges}>
      <Group className="head" justify="space-between">
        <Title order={2} size="h6">
          {t.stateChanges}
        </Title>
        <RangeControl value={range} />
      </Group>
      <QueryResult query={query} lines={3}>
        {({ points }) => (
          <Stack px="md" py="sm">
            <StateStrip points={points} from={from} to={to} />
          </Stack>
        )}
      </QueryResult>
      <QueryResult query={turns} lines={3}>
        {(log) => (
          <>
            {spansOf(log.turns).map((span) => (
              <StateChangeRow key={span.at} entry={span} severity={monitor.failure_severity} />
            ))}
            <Text size="sm" c="dimmed" p="md" pt={log.turns.length ? 'md' : 0}>
              {endOf(monitor, log, from, t)}
            </Text>
          </>
        )}
      </QueryResult>
    </Paper>
  )
}

type StateLog = Shape<'StateLog'>

/** The text at the end of the list: why there are no more rows. */
function endOf(monitor: Monitor, log: StateLog, from: number, t: ReturnType<typeof useText>) {
  if (!log.whole) return t.turnsMore(log.turns.length)
  const keptSince = Date.parse(log.kept)
  if (from <= keptSince && Date.parse(monitor.creation_date) < keptSince) return t.turnsKept
  return log.turns.length ? t.turnsAll : t.noStateChanges
}

function StateChangeRow({ entry, severity }: { entry: Span; severity: string }) {
  const t = useText()
  // Paused, it is in a state of that name.
  const display = {
    state: entry.state,
    failure_severity: severity,
    enable: entry.state !== 'paused',
  }
  const word = monitorStateText(display)
  return (
    <div className="row mon-turn">
      <StateIcon look={monitorLook(display)} title={word} />
      <div className="clip">
        <div>
          {word}{' '}
          <Text span size="xs" c="dimmed" className="num">
            {entry.until ? `${t.lasted} ${span(entry.at, entry.until)}` : t.stillSo}
          </Text>
        </div>
        <Text size="xs" c="dimmed" className="clip" title={entry.message}>
          {entry.message}
        </Text>
      </div>
      <time dateTime={entry.at} className="num">
        {dateTime(entry.at)}
      </time>
    </div>
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
      <QueryResult query={query}>
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
      </QueryResult>
    </Paper>
  )
}
