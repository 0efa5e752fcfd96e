import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validAuditSearch } from './search'

export const auditRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/audit',
  validateSearch: validAuditSearch,
  component: lazyRouteComponent(() => import('./AuditPage'), 'AuditPage'),
})

export const auditRoutes = [auditRoute] as const
