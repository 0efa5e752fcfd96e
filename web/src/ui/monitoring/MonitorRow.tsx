import { Badge, Box, Text } from '@mantine/core'
import { memo } from 'react'
import type { MonitorLine } from '../../api/queries/monitoring/monitor'
import { watchLook, watchWord } from '../../lib/state'
import { Beats } from '../state/CheckStrip'
import { Spark } from '../state/Sparkline'
import { Lasting } from '../state/Time'
import { beatLooks, known, shownValue, trendColor } from './display'
import { useWatchWords } from './text'
import './monitorRow.css'

/** "Failing for 5 m 10 s · edge-1", or the kind where all is well. */
export function MonitorSub({ line }: { line: MonitorLine }) {
  const w = useWatchWords()
  const look = watchLook(line)
  return (
    <Text size="xs" c="dimmed" className="clip">
      {look === 'ok' ? (
        (w.kinds[line.type] ?? line.type)
      ) : (
        <>
          {watchWord(line)} · <Lasting from={line.state_since} />
        </>
      )}
      {line.hostname && line.hostname !== line.name ? ` · ${line.hostname}` : null}
    </Text>
  )
}

export function MonitorMarks({ line }: { line: MonitorLine }) {
  const w = useWatchWords()
  const isMuted = !line.alerts || line.muted_until
  return (
    <>
      {isMuted ? (
        <Badge size="xs" ml={6}>
          {w.muted}
        </Badge>
      ) : null}
      {line.flapping ? (
        <Badge size="xs" ml={6} className="badge-warn">
          {w.flapping}
        </Badge>
      ) : null}
    </>
  )
}

export const MonitorBeats = memo(function MonitorBeats({ line }: { line: MonitorLine }) {
  const w = useWatchWords()
  const looks = beatLooks(line.beats)
  if (looks.length === 0) return null
  return <Beats data={looks} label={w.lastChecks(line.name)} />
})

export const MonitorTrend = memo(function MonitorTrend({ line }: { line: MonitorLine }) {
  const values = known(line.spark)
  if (values.length < 2) return null
  return <Spark data={values} width={100} height={24} color={trendColor(watchLook(line))} />
})

export function MonitorValue({ line }: { line: MonitorLine }) {
  const shown = shownValue(line)
  return (
    <Box ta="right" className="num clip">
      {shown ? (
        <>
          {shown.text}
          {shown.unit ? <span className="unit">{shown.unit}</span> : null}
        </>
      ) : (
        '—'
      )}
    </Box>
  )
}
