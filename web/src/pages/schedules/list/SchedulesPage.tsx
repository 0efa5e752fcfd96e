import { Badge, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CalendarClock } from 'lucide-react'
import { type Schedule, schedulesQuery } from '../../../api/queries/automation/schedule'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { AppLink } from '../../../ui/AppLink'
import { ListPage } from '../../../ui/list/ListPage'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { DayNames, WeekStrip } from './WeekStrip'
import '../schedules.css'
import { useCronText } from '../form/cronText'
import { useTargetNames, useTargetOf } from '../scheduleTarget'
import { useText } from '../text'

export function SchedulesPage() {
  const t = useText()
  usePageTitle(t.list)
  const query = useQuery(schedulesQuery)
  const mayEdit = useCan()('schedule.edit')
  const names = useTargetNames()
  const textOf = (schedule: Schedule) =>
    [schedule.name, names(schedule), schedule.repeatEvery, schedule.timezone]
      .filter(Boolean)
      .join(' ')
  return (
    <ListPage
      query={query}
      count={t.count}
      make={mayEdit ? { to: '/schedules/new', word: t.newSchedule } : null}
      find={{ label: t.find, textOf }}
      first={{ icon: CalendarClock, title: t.first, body: t.firstBody }}
    >
      {(schedules) => <List schedules={schedules} />}
    </ListPage>
  )
}

/** The next run is first; schedules without a run are last. */
function bySoon(a: Schedule, b: Schedule): number {
  return (a.nextRunAt ?? '9').localeCompare(b.nextRunAt ?? '9') || a.name.localeCompare(b.name)
}

function List({ schedules }: { schedules: Schedule[] }) {
  const t = useText()
  return (
    <>
      <div className="row sched-row sched-head" aria-hidden="true">
        <span />
        <span />
        <span />
        <DayNames />
        <Text size="xs" c="dimmed" ta="right">
          {t.next}
        </Text>
      </div>
      <ul className="sched-list" aria-label={t.list}>
        {[...schedules].sort(bySoon).map((schedule) => (
          <li key={schedule.id}>
            <Row schedule={schedule} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Row({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const target = useTargetOf(schedule)
  const words = useCronText(schedule.repeatEvery ?? '')
  const isOn = schedule.enable && !schedule.pause
  const when = schedule.repeatEvery
    ? words || schedule.repeatEvery
    : schedule.runDate
      ? dateTime(schedule.runDate)
      : ''
  return (
    <AppLink to={`/schedules/${schedule.id}`} className="row sched-row" data-row>
      <StateIcon look={isOn ? 'ok' : 'stop'} title={isOn ? t.enable : t.paused} />
      <span style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} className="clip">
          {schedule.name || target?.name || t.deletedTarget}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {target?.name ?? t.deletedTarget}
        </Text>
      </span>
      <span className="sched-words" style={{ minWidth: 0 }}>
        <Text size="sm" className="clip">
          {when}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          <span className="mono">{schedule.repeatEvery}</span>
          {schedule.repeatEvery ? ' · ' : ''}
          {schedule.timezone}
        </Text>
      </span>
      <span className="sched-strip-cell">
        <WeekStrip id={schedule.id} isOn={isOn} />
      </span>
      <Text size="xs" c="dimmed" ta="right" component="span">
        <NextRun schedule={schedule} />
      </Text>
    </AppLink>
  )
}

function NextRun({ schedule }: { schedule: Schedule }) {
  const t = useText()
  if (schedule.pause) return <Badge size="sm">{t.paused}</Badge>
  if (!schedule.enable) return <Badge size="sm">{t.off}</Badge>
  return schedule.nextRunAt ? <Ago at={schedule.nextRunAt} /> : t.never
}
