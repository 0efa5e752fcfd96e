import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CalendarClock, Plus } from 'lucide-react'
import { type Schedule, schedulesQuery } from '../../api/queries/schedule'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { dateTime } from '../../lib/format'
import { Empty } from '../../ui/Empty'
import { Go, useGo } from '../../ui/Go'
import { Loaded } from '../../ui/Loaded'
import { useRowKeys } from '../../ui/rowKeys'
import { StateIcon } from '../../ui/StateIcon'
import { Ago } from '../../ui/Time'
import { DayNames, Strip } from './Strip'
import './schedules.css'
import { useTargetOf } from './targets'
import { useText } from './text'
import { useCronWords } from './words'

export function SchedulesPage() {
  const t = useText()
  usePageTitle(t.list)
  const go = useGo()
  const query = useQuery(schedulesQuery)
  const mayEdit = useCan()('schedule.edit')
  useRowKeys()
  useKeys(mayEdit ? { c: () => go('/schedules/new') } : {})
  return (
    <Paper withBorder>
      <Group className="head" gap={8}>
        <Text size="xs" c="dimmed">
          {query.data ? t.count(query.data.length) : ''}
        </Text>
        {mayEdit ? (
          <Button component={Go} to="/schedules/new" ml="auto" leftSection={<Plus size={14} />}>
            {t.newSchedule}
          </Button>
        ) : null}
      </Group>
      <Loaded query={query}>
        {(schedules) =>
          schedules.length ? (
            <List schedules={schedules} />
          ) : (
            <Empty icon={CalendarClock} title={t.first}>
              {t.firstBody}
            </Empty>
          )
        }
      </Loaded>
    </Paper>
  )
}

/** What runs soonest stands first; what does not run comes last. */
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
        {[...schedules].sort(bySoon).map((one) => (
          <li key={one.id}>
            <Row schedule={one} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Row({ schedule }: { schedule: Schedule }) {
  const t = useText()
  const target = useTargetOf(schedule)
  const words = useCronWords(schedule.repeatEvery ?? '')
  const isOn = schedule.enable && !schedule.pause
  const when = schedule.repeatEvery
    ? words || schedule.repeatEvery
    : schedule.runDate
      ? dateTime(schedule.runDate)
      : ''
  return (
    <Go to={`/schedules/${schedule.id}`} className="row sched-row" data-row>
      <StateIcon look={isOn ? 'ok' : 'stop'} title={isOn ? t.enable : t.paused} />
      <span style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} className="clip">
          {schedule.name || target?.name || t.gone}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {target?.name ?? t.gone}
        </Text>
      </span>
      <span className="sched-words" style={{ minWidth: 0 }}>
        <Text size="sm" className="clip">
          {when}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          <span className="mono">{schedule.repeatEvery}</span> {schedule.timezone}
        </Text>
      </span>
      <span className="sched-strip-cell">
        <Strip id={schedule.id} isOn={isOn} />
      </span>
      <Text size="xs" c="dimmed" ta="right" component="span">
        <NextRun schedule={schedule} />
      </Text>
    </Go>
  )
}

function NextRun({ schedule }: { schedule: Schedule }) {
  const t = useText()
  if (schedule.pause) return <Badge size="sm">{t.paused}</Badge>
  if (!schedule.enable) return <Badge size="sm">{t.off}</Badge>
  return schedule.nextRunAt ? <Ago at={schedule.nextRunAt} /> : t.never
}
