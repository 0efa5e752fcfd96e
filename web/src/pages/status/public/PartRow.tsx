import { Group, Text } from '@mantine/core'
import type { PublicStatus } from '../../../api/queries/monitoring/statusPage'
import { dateTime } from '../../../lib/format'
import type { Look } from '../../../lib/state'
import { uptime } from '../../../ui/monitoring/display'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'

type Part = PublicStatus['parts'][number]

/** One part: its state, 90 days as bars, and its uptime. */
export function PartRow({ part, look }: { part: Part; look: Look }) {
  const t = useText()
  return (
    <div className="status-part">
      <Group justify="space-between" wrap="nowrap" gap={12}>
        <Group gap={8} wrap="nowrap" miw={0}>
          <StateIcon look={look} />
          <Text fw={600} className="clip">
            {part.name}
          </Text>
        </Group>
        <Text size="sm">{t.partStates[part.state] ?? part.state}</Text>
      </Group>
      <div className="status-days" role="img" aria-label={t.strip(part.name)}>
        {part.days.map(({ day, up }) => (
          <span
            key={day}
            data-look={dayLook(up)}
            title={t.day(
              dateTime(`${day}T12:00:00Z`, { dateStyle: 'medium' }),
              up === null ? t.noWord : uptime(up),
            )}
          />
        ))}
      </div>
      <div className="status-ends">
        <span>{t.days90}</span>
        <span className="num">{uptimeText(part, t)}</span>
        <span>{t.today}</span>
      </div>
    </div>
  )
}

const DAYS_OF_MONTH = 30
const DAYS_OF_QUARTER = 90

/** Periods that are longer than the data are replaced by the day on which the data begin. */
export function uptimeText(part: Part, t: ReturnType<typeof useText>): string {
  const first = part.days.findIndex(({ up }) => up !== null)
  const dayCount = first < 0 ? 0 : part.days.length - first
  if (dayCount === 0) return t.noWord
  const words = [t.inDay(uptime(part.uptime_day))]
  if (dayCount > DAYS_OF_MONTH) words.push(t.inMonth(uptime(part.uptime_month)))
  if (dayCount >= DAYS_OF_QUARTER) words.push(t.inQuarter(uptime(part.uptime_quarter)))
  else {
    const since = dateTime(`${part.days[first]!.day}T12:00:00Z`, { dateStyle: 'medium' })
    words.push(t.inSince(uptime(part.uptime_quarter), since))
  }
  return words.join(' · ')
}

/** A day is good when nearly all of it was; a short failure still shows. */
export function dayLook(up: number | null): Look {
  if (up === null) return 'stop'
  if (up >= 99.9) return 'ok'
  return up >= 95 ? 'warn' : 'fail'
}
