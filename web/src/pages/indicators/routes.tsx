import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validRange } from '../../ui/chart/timeRange'
import { validListSearch } from '../../ui/list/listSearch'

export const indicatorsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators',
  validateSearch: validListSearch,
  component: lazyRouteComponent(() => import('./IndicatorsPage'), 'IndicatorsPage'),
})

export const newIndicatorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators/new',
  component: lazyRouteComponent(() => import('./form/IndicatorEditPage'), 'NewIndicatorPage'),
})

export const indicatorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators/$id',
  validateSearch: validRange,
  component: lazyRouteComponent(() => import('./detail/IndicatorPage'), 'IndicatorPage'),
})

export const editIndicatorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators/$id/edit',
  component: lazyRouteComponent(() => import('./form/IndicatorEditPage'), 'EditIndicatorPage'),
})

export const indicatorRoutes = [
  indicatorsRoute,
  newIndicatorRoute,
  indicatorRoute,
  editIndicatorRoute,
] as const
