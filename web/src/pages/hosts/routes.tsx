import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { HostFilter } from '../../api/queries/monitoring/host'
import { orgRoute } from '../../app/routes'
import { type RawSearch, textParam } from '../../lib/search'
import { validRange } from '../../ui/chart/timeRange'

export const hostsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts',
  validateSearch: (search: RawSearch): HostFilter => ({
    q: textParam(search.q),
    tag: textParam(search.tag),
  }),
  component: lazyRouteComponent(() => import('./list/HostsPage'), 'HostsPage'),
})

export const addHostRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts/add',
  component: lazyRouteComponent(() => import('./list/AddHostPage'), 'AddHostPage'),
})

export const hostRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts/$id',
  validateSearch: validRange,
  component: lazyRouteComponent(() => import('./detail/HostPage'), 'HostPage'),
})

export const hostRoutes = [hostsRoute, addHostRoute, hostRoute] as const
