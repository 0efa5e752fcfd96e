import type { Shape } from '../../../api/client'
import type { Schedule, When } from '../../../api/queries/automation/schedule'
import { clockIn, isCron } from './cronText'

export type Mode = 'cron' | 'every' | 'once'

export interface Draft {
  name: string
  mode: Mode
  repeat: string
  /** On the clocks of the zone: "2026-03-01T09:00". */
  date: string
  timezone: string
  overlap: string
  missed: string
  enable: boolean
  values: unknown[] | null
}

export function firstDraft(zone: string): Draft {
  return {
    name: '',
    mode: 'cron',
    repeat: '0 7 * * *',
    date: '',
    timezone: zone,
    overlap: 'skip',
    missed: 'skip',
    enable: true,
    values: null,
  }
}

export function draftOf(schedule: Schedule): Draft {
  return {
    name: schedule.name,
    mode: !schedule.repeatEvery ? 'once' : isCron(schedule.repeatEvery) ? 'cron' : 'every',
    repeat: schedule.repeatEvery ?? '',
    date: clockIn(schedule.runDate, schedule.timezone),
    timezone: schedule.timezone,
    overlap: schedule.overlap,
    missed: schedule.missed,
    enable: schedule.enable,
    values: schedule.task_arguments,
  }
}

export function whenOf({ mode, repeat, date, timezone }: Draft): When {
  return {
    repeatEvery: mode === 'once' ? null : repeat,
    runDate: date || null,
    timezone,
  }
}

/** The body. An unchanged date is omitted: a past date would be refused. */
export function bodyOf(draft: Draft, before?: Draft): Shape<'ScheduleBody'> {
  const { name, overlap, missed, enable, values } = draft
  const { runDate, ...when } = whenOf(draft)
  const isSameDate = before?.date === draft.date && before?.timezone === draft.timezone
  const isSameValues = JSON.stringify(before?.values) === JSON.stringify(values)
  return {
    // Without a name it is called like its target.
    name: name || null,
    overlap: overlap as Shape<'Overlap'>,
    missed: missed as Shape<'Missed'>,
    enable,
    ...when,
    ...(before && isSameDate ? {} : { runDate }),
    ...(before && isSameValues ? {} : { task_arguments: values }),
  }
}
