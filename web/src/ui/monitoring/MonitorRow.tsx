import { Badge, Box, Text } from '@mantine/core'
import { memo } from 'react'
import type { MonitorLine } from '../../api/queries/monitoring/monitor'
import { monitorLook, monitorStateText } from '../../lib/state'
import { CheckStrip } from '../state/CheckStrip'
import { Sparkline } from '../state/Sparkline'
import { Duration } from '../state/Time'
import { checkLooks, displayValue, knownValues, trendColor } from './display'
import { useMonitoringText } from './text'
import './monitorRow.css'

/** "Failing for 5 m 10 s · edge-1", or the kind where all is well. */
export function MonitorSubtitle({ line }: { line: MonitorLine }) {
  const w = useMonitoringText()
  const look = monitorLook(line)
  return (
    <Text size="xs" c="dimmed" className="clip">
      {look === 'ok' ? (
        (w.kinds[line.type] ?? line.type)
      ) : (
        <>
          {monitorStateText(line)} · <Duration from={line.state_since} />
        </>
      )}
      {line.hostname && line.hostname !== line.name ? ` · ${line.hostname}` : null}
    </Text>
  )
}

export function MonitorMarks({ line }: { line: MonitorLine }) {
  const w = useMonitoringText()
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

export const MonitorChecks = memo(function MonitorChecks({ line }: { line: MonitorLine }) {
  const w = useMonitoringText()
  const looks = checkLooks(line.beats)
  if (looks.length === 0) return null
  return <CheckStrip data={looks} label={w.lastChecks(line.name)} />
})

export const MonitorTrend = memo(function MonitorTrend({ line }: { line: MonitorLine }) {
  const values = knownValues(line.spark)
  if (values.length < 2) return null
  return <Sparkline data={values} width={100} height={24} color={trendColor(monitorLook(line))} />
})

export function MonitorValue({ line }: { line: MonitorLine }) {
  const display = displayValue(line)
  return (
    <Box ta="right" className="num clip">
      {display ? (
        <>
          {display.text}
          {display.unit ? <span className="unit">{display.unit}</span> : null}
        </>
      ) : (
        '—'
      )}
    </Box>
  )
}
