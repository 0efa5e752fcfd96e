import { Badge, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { byField } from '../../../api/errors'
import { type Fire, previewQuery, type When } from '../../../api/queries/automation/schedule'
import { dateTime } from '../../../lib/format'
import { usePrefs } from '../../../lib/prefs'
import { useText } from '../text'
import { wallClockText } from './cronText'

/** The next five runs, on the reader's clock and on the schedule's if that is another. */
export function RunPreview({ when }: { when: When }) {
  const [settled] = useDebouncedValue(when, 250)
  const isComplete = !!(settled.repeatEvery || settled.runDate)
  const query = useQuery({
    ...previewQuery({ ...settled, count: 5 }),
    enabled: isComplete,
    placeholderData: keepPreviousData,
  })
  if (!isComplete) return null
  if (query.error) {
    const faults = Object.values(byField(query.error))
    return (
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {faults.join(' ') || query.error.message}
      </Text>
    )
  }
  return <RunTimes fires={query.data ?? []} zone={settled.timezone ?? 'UTC'} />
}

/** The next runs, with the effects of clock changes. */
export function RunTimes({ fires, zone }: { fires: Fire[]; zone: string }) {
  const t = useText()
  const prefs = usePrefs()
  const localZone = prefs.zone || Intl.DateTimeFormat().resolvedOptions().timeZone
  const isOtherZone = zone !== localZone
  if (fires.length === 0) return <Text size="sm">{t.never}</Text>
  return (
    <table className="sched-next" aria-label={t.preview}>
      <thead>
        <tr>
          <th scope="col">{t.yourZone(localZone)}</th>
          {isOtherZone ? <th scope="col">{t.theirZone(zone)}</th> : null}
        </tr>
      </thead>
      <tbody>
        {fires.map((run) => (
          <tr key={run.date} data-change={run.clock_change ?? undefined}>
            <td>
              <time dateTime={run.date}>{readerTime(run.date)}</time>
              <Marks fire={run} />
            </td>
            {isOtherZone ? (
              <td>
                <time dateTime={run.date}>{wallClockText(run.local)}</time>
              </td>
            ) : null}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function readerTime(date: string): string {
  return dateTime(date, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
}

function Marks({ fire }: { fire: Fire }) {
  const t = useText()
  const change = fire.clock_change as keyof typeof t.changes | null
  const note = change ? t.changes[change] : null
  const text = typeof note === 'function' ? note(fire.meant ? wallClockText(fire.meant) : '') : note
  return (
    <>
      {fire.paused ? (
        <Text size="xs" c="dimmed">
          {t.inPause}
        </Text>
      ) : null}
      {text ? (
        <Text size="xs" component="div">
          <Badge size="xs" className="badge-warn" mr={4}>
            {t.dst}
          </Badge>
          {text}
        </Text>
      ) : null}
    </>
  )
}
