import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { sought } from '../../ui/list/listSearch'

export const indicatorsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators',
  validateSearch: sought,
  component: lazyRouteComponent(() => import('./IndicatorsPage'), 'IndicatorsPage'),
})

export const newIndicatorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators/new',
  component: lazyRouteComponent(() => import('./form/IndicatorEditPage'), 'NewIndicatorPage'),
})

export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

export const indicatorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/indicators/$id',
  validateSearch: (search: Record<string, unknown>): { range?: Range } => {
    const range = RANGES.find((one) => one === search.range)
    return range ? { range } : {}
  },
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
