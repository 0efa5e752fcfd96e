import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

interface DashboardSearch {
  /** Only the monitors that have a problem. */
  show?: 'problems'
}

export const dashboardRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/',
  validateSearch: (search: Record<string, unknown>): DashboardSearch =>
    search.show === 'problems' ? { show: 'problems' } : {},
  component: lazyRouteComponent(() => import('./DashboardPage'), 'DashboardPage'),
})

export const dashboardRoutes = [dashboardRoute] as const
