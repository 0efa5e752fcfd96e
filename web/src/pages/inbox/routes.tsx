import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

export const inboxRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/inbox',
  validateSearch: (search: Record<string, unknown>): { all?: boolean } =>
    search.all === true ? { all: true } : {},
  component: lazyRouteComponent(() => import('./InboxPage'), 'InboxPage'),
})

export const inboxRoutes = [inboxRoute] as const
