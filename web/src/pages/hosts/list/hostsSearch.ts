import type { HostFilter, HostLine, HostOrder } from '../../../api/queries/monitoring/host'
import { type RawSearch, textParam } from '../../../lib/search'

export const SORTS = ['name', 'last_seen', 'cpu', 'mem', 'disk', 'failing'] as const
export type Sort = (typeof SORTS)[number]
export const HEATS = ['cpu', 'mem', 'disk'] as const
export type Heat = (typeof HEATS)[number]
export const STATES = ['problems', 'online', 'offline', 'unreachable', 'draining', 'disabled']

export interface HostsSearch extends HostFilter {
  /** None: by state, the worst first. */
  sort?: Sort
  grid?: boolean
  /** The value that the colours of the grid show; none: the state. */
  heat?: Heat
}

export function validHostsSearch(search: RawSearch): HostsSearch {
  return {
    q: textParam(search.q),
    tag: textParam(search.tag),
    state: STATES.find((state) => state === search.state),
    sort: SORTS.find((sort) => sort === search.sort),
    grid: search.grid ? true : undefined,
    heat: HEATS.find((heat) => heat === search.heat),
  }
}

export function orderOf(sort: Sort | undefined): HostOrder {
  if (sort === 'name') return 'hostname'
  return sort === 'last_seen' ? 'last_seen' : 'rank'
}

/** Whether all hosts have to be read before they can be sorted. */
export function isSortedHere(sort: Sort | undefined): boolean {
  return sort !== undefined && orderOf(sort) === 'rank'
}

/** The highest figure first; hosts without one at the end, in the order of the server. */
export function sortHosts(hosts: HostLine[], sort: Sort | undefined): HostLine[] {
  if (sort !== 'cpu' && sort !== 'mem' && sort !== 'disk' && sort !== 'failing') return hosts
  return hosts.toSorted((a, b) => (b[sort] ?? -1) - (a[sort] ?? -1))
}
