import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { monitorHistoryQuery } from '../../../api/queries/monitoring/monitor'
import { RANGES, type Range } from '../../../ui/chart/timeRange'
import { useText } from '../text'

const HOUR = 3_600_000
const LENGTH: Record<Range, number> = {
  '1h': HOUR,
  '24h': 24 * HOUR,
  '7d': 168 * HOUR,
  '30d': 720 * HOUR,
}

/** The history of a range that ends now. Its start is fixed for a minute, so that the
 * same question keeps the same name in the cache. */
export function useRange(id: string, range: Range) {
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const from = minute - LENGTH[range]
  const query = useQuery(
    monitorHistoryQuery(
      id,
      // Single checks are the finest view of an hour.
      { from: new Date(from).toISOString(), ...(range === '1h' ? { step: 0 } : {}) },
      range === '1h' ? 5_000 : 30_000,
    ),
  )
  return { query, from, to: Date.now() }
}

export function RangeControl({ value }: { value: Range }) {
  const t = useText()
  const navigate = useNavigate()
  return (
    <SegmentedControl
      size="xs"
      aria-label={t.range}
      value={value}
      onChange={(range) =>
        void navigate({ to: '.', search: { range } as never, replace: true, resetScroll: false })
      }
      data={RANGES.map((range) => ({ value: range, label: t.ranges[range] }))}
    />
  )
}
