import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { Shape } from '../../../api/client'
import {
  type Monitor,
  monitorHistoryQuery,
  monitorTurnsQuery,
} from '../../../api/queries/monitoring/monitor'
import { dateTime, span } from '../../../lib/format'
import { watchLook, watchWord } from '../../../lib/state'
import { StateStrip } from '../../../ui/chart/StateStrip'
import { Loaded } from '../../../ui/layout/QueryResult'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'
import { Frame } from './MonitorLayout'
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
    <Frame id={id} tab="history">
      {(monitor) => (
        <Stack gap="md">
          <Changes monitor={monitor} />
          <Singles monitor={monitor} />
        </Stack>
      )}
    </Frame>
  )
}

function Changes({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const { range = '7d' } = monitorHistoryRoute.useSearch()
  const { query, from, to } = useRange(monitor.id, range)
  const turns = useQuery(monitorTurnsQuery(monitor.id, new Date(from).toISOString()))
  return (
    <Paper withBorder component="section" aria-label={t.turns}>
      <Group className="head" justify="space-between">
        <Title order={2} size="h6">
          {t.turns}
        </Title>
        <RangeControl value={range} />
      </Group>
      <Loaded query={query} lines={3}>
        {({ points }) => (
          <Stack px="md" py="sm">
            <StateStrip points={points} from={from} to={to} />
          </Stack>
        )}
      </Loaded>
      <Loaded query={turns} lines={3}>
        {(found) => (
          <>
            {spansOf(found.turns).map((one) => (
              <Turned key={one.at} one={one} severity={monitor.failure_severity} />
            ))}
            <Text size="sm" c="dimmed" p="md" pt={found.turns.length ? 'md' : 0}>
              {endOf(monitor, found, from, t)}
            </Text>
          </>
        )}
      </Loaded>
    </Paper>
  )
}

type Turns = Shape<'Turns'>

/** What the list says at its end: why it has no more. */
function endOf(monitor: Monitor, found: Turns, from: number, t: ReturnType<typeof useText>) {
  if (!found.whole) return t.turnsMore(found.turns.length)
  const kept = Date.parse(found.kept)
  if (from <= kept && Date.parse(monitor.creation_date) < kept) return t.turnsKept
  return found.turns.length ? t.turnsAll : t.turnsNone
}

function Turned({ one, severity }: { one: Span; severity: string }) {
  const t = useText()
  // Paused, it is in a state of that name.
  const shown = { state: one.state, failure_severity: severity, enable: one.state !== 'paused' }
  const word = watchWord(shown)
  return (
    <div className="row mon-turn">
      <StateIcon look={watchLook(shown)} title={word} />
      <div className="clip">
        <div>
          {word}{' '}
          <Text span size="xs" c="dimmed" className="num">
            {one.until ? `${t.lasted} ${span(one.at, one.until)}` : t.stillSo}
          </Text>
        </div>
        <Text size="xs" c="dimmed" className="clip" title={one.message}>
          {one.message}
        </Text>
      </div>
      <time dateTime={one.at} className="num">
        {dateTime(one.at)}
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
