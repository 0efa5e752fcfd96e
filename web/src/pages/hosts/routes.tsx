import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validRange } from '../../ui/chart/timeRange'
import { validHostsSearch } from './list/hostsSearch'

export const hostsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/hosts',
  validateSearch: validHostsSearch,
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
