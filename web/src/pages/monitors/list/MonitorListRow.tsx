import { Checkbox, Skeleton, Text } from '@mantine/core'
import { memo } from 'react'
import type { MonitorLine } from '../../../api/queries/monitoring/monitor'
import { monitorLook, monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { shorterPeriod, uptime } from '../../../ui/monitoring/display'
import {
  MonitorChecks,
  MonitorMarks,
  MonitorSubtitle,
  MonitorTrend,
  MonitorValue,
} from '../../../ui/monitoring/MonitorRow'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useText } from '../text'

interface Props {
  line: MonitorLine | undefined
  index: number
  top: number
  isActive: boolean
  isChosen: boolean
  onToggle?: (id: string) => void
}

export const MonitorListRow = memo(function MonitorListRow({
  line,
  index,
  top,
  isActive,
  isChosen,
  onToggle,
}: Props) {
  const t = useText()
  const place = { transform: `translateY(${top}px)` }
  if (!line)
    return (
      <div
        role="row"
        tabIndex={-1}
        aria-rowindex={index + 2}
        className="mon-row mon-line"
        style={place}
      >
        <span role="cell">
          <Skeleton height={14} width="60%" />
        </span>
      </div>
    )
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      className="mon-row mon-line"
      style={place}
      data-active={isActive}
      data-state={line.state}
    >
      <div role="cell" className="mon-monitor">
        {onToggle ? (
          <Checkbox
            size="xs"
            className="mon-pick"
            checked={isChosen}
            onChange={() => onToggle(line.id)}
            aria-label={t.select(line.name)}
          />
        ) : null}
        <StateIcon look={monitorLook(line)} title={monitorStateText(line)} />
        <div className="clip">
          <AppLink to={`/monitors/${line.id}`} className="mon-link clip">
            {line.name}
          </AppLink>
          <MonitorMarks line={line} />
          <MonitorSubtitle line={line} />
        </div>
      </div>
      <div role="cell" className="mon-checks">
        <MonitorChecks line={line} />
      </div>
      <div role="cell" className="mon-trend">
        <MonitorTrend line={line} />
      </div>
      <div role="cell" className="mon-value">
        <MonitorValue line={line} />
      </div>
      <Text role="cell" size="xs" c="dimmed" component="div" className="mon-since clip">
        <Ago at={line.state_since} />
      </Text>
      <div role="cell" className="mon-day num">
        {uptime(line.uptime_day)}
      </div>
      <div role="cell" className="mon-month num">
        <MonthUptime line={line} />
      </div>
    </div>
  )
})

/** A younger monitor has no 30 days: its age is shown below the figure. */
function MonthUptime({ line }: { line: MonitorLine }) {
  const t = useText()
  const period = line.uptime_month === null ? null : shorterPeriod(line.creation_date)
  return (
    <>
      {uptime(line.uptime_month)}
      {period ? (
        <Text size="xs" c="dimmed">
          {t.inPeriod(period)}
        </Text>
      ) : null}
    </>
  )
}
