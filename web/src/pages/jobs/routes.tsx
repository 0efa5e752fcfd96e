import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validFilter, validJobSearch } from './search'

export const jobsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/jobs',
  validateSearch: validFilter,
  component: lazyRouteComponent(() => import('./list/JobsPage'), 'JobsPage'),
})

export const jobRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/jobs/$id/{-$tab}',
  validateSearch: validJobSearch,
  component: lazyRouteComponent(() => import('./detail/JobPage'), 'JobPage'),
})

export const jobRoutes = [jobsRoute, jobRoute] as const
