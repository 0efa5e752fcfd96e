import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape } from '../client'
import { paceMs } from '../pace'

/** The numbers beside the navigation's entries; read again after whatever changes them. */
export const countsQuery = queryOptions({
  queryKey: ['counts'],
  queryFn: () => ok(api.GET('/-/counts')),
  staleTime: 5_000,
  // No event reports that the time to reconnect has passed.
  refetchInterval: 30_000,
  meta: {
    after: ['job', 'monitor', 'host', 'indicator', 'notification'],
    paceMs: (counts?: Shape<'Counts'>) => paceMs(sum(counts?.monitors), 15_000),
  },
})

const sum = (counts: Record<string, number> = {}) =>
  Object.values(counts).reduce((total, count) => total + count, 0)

/** Problems for the title of the tab. A host that is down has a monitor of its own that stopped. */
export function alarmCount(counts?: Shape<'Counts'>): number {
  if (!counts) return 0
  const { failure, updates_stopped } = counts.monitors
  return failure + Math.max(updates_stopped, counts.hosts.down)
}
