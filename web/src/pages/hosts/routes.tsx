import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { HostFilter } from '../../api/queries/monitoring/host'
import { orgRoute } from '../../app/routes'

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value ? value : undefined
}

export const hostsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts',
  validateSearch: (search: Record<string, unknown>): HostFilter => ({
    q: word(search.q),
    tag: word(search.tag),
  }),
  component: lazyRouteComponent(() => import('./list/HostsPage'), 'HostsPage'),
})

export const addHostRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts/add',
  component: lazyRouteComponent(() => import('./list/AddHostPage'), 'AddPage'),
})

export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

export const hostRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts/$id',
  validateSearch: (search: Record<string, unknown>): { range?: Range } => {
    const range = RANGES.find((one) => one === search.range)
    return range ? { range } : {}
  },
  component: lazyRouteComponent(() => import('./detail/HostPage'), 'HostPage'),
})

export const hostRoutes = [hostsRoute, addHostRoute, hostRoute] as const
