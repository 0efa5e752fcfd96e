import { useQueries } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useMemo } from 'react'
import {
  type MonitorFilter,
  type MonitorLine,
  monitorsQuery,
  PAGE,
} from '../../../api/queries/monitoring/monitor'

const HEIGHT = 52

/** A list of any length; only the pages in view are loaded and updated. */
export function useMonitorRows(
  filter: MonitorFilter,
  box: RefObject<HTMLElement | null>,
  total: number,
) {
  const list = useVirtualizer({
    count: total,
    getScrollElement: () => box.current,
    estimateSize: () => HEIGHT,
    overscan: 8,
  })
  const visible = list.getVirtualItems()
  const first = Math.floor((visible[0]?.index ?? 0) / PAGE)
  const last = Math.floor((visible.at(-1)?.index ?? 0) / PAGE)
  const pages = useMemo(
    () => [...new Set([0, ...Array.from({ length: last - first + 1 }, (_, i) => first + i)])],
    [first, last],
  )
  const queries = useQueries({ queries: pages.map((page) => monitorsQuery(filter, page)) })
  const rowAt = (index: number): MonitorLine | undefined =>
    queries[pages.indexOf(Math.floor(index / PAGE))]?.data?.rows[index % PAGE]
  return { list, visible, rowAt, query: queries[0]! }
}
