import { useQuery } from '@tanstack/react-query'
import { nextRunsQuery } from '../../../api/queries/automation/schedule'
import { dateTime } from '../../../lib/format'
import { useText } from '../text'

const DAY = 86_400_000
const DAYS = 7
const MOST = 100
// Seven days have 84 periods of this length, which is below the limit of the server.
const BAND = 7_200_000

/** Midnight today in this browser: where the strip begins. */
export function stripStart(now = Date.now()): number {
  return new Date(now).setHours(0, 0, 0, 0)
}

export function DayNames() {
  const start = stripStart()
  return (
    <div className="sched-days">
      {Array.from({ length: DAYS }, (_, n) => (
        <span key={n}>
          {dateTime(start + n * DAY + DAY / 2, { weekday: 'short', day: 'numeric' })}
        </span>
      ))}
    </div>
  )
}

/** The runs of the next seven days as ticks; where there are too many to draw each, as bands of
 * two hours that have at least one run. */
export function WeekStrip({ id, isOn }: { id: string; isOn: boolean }) {
  const t = useText()
  const start = stripStart()
  const isInside = (at: number) => at < start + DAYS * DAY
  const { data = [] } = useQuery({ ...nextRunsQuery(id, MOST), enabled: isOn })
  const runs = data.map((run) => Date.parse(run.date)).filter(isInside)
  const isDense = runs.length === MOST
  const bands = useQuery({ ...nextRunsQuery(id, MOST, BAND), enabled: isOn && isDense })
  const x = (at: number) => ((at - start) / (DAYS * DAY)) * 700
  return (
    <svg
      className="sched-strip"
      viewBox="0 0 700 26"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${t.nextDays}: ${isDense ? t.often : t.runsIn(runs.length)}`}
    >
      {Array.from({ length: DAYS }, (_, n) => (
        <rect key={n} x={n * 100} y="0" width="1" height="26" fill="var(--line)" />
      ))}
      <rect x="0" y="21" width="700" height="1" fill="var(--mantine-color-default-border)" />
      {isDense
        ? bands.data
            ?.map((run) => Math.floor(Date.parse(run.date) / BAND) * BAND)
            .filter(isInside)
            .map((at) => (
              <rect
                key={at}
                data-band={new Date(at).toISOString()}
                x={Math.max(0, x(at))}
                y="9"
                width={x(at + BAND) - Math.max(0, x(at))}
                height="12"
                fill="var(--st-run)"
                opacity=".6"
              />
            ))
        : runs.map((at) => (
            <rect key={at} x={x(at)} y="6" width="3" height="15" fill="var(--st-run)" />
          ))}
    </svg>
  )
}
