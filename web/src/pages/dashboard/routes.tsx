import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

interface DashboardSearch {
  /** Of the monitors, those that are not well. */
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
