import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

export interface AuditSearch {
  user?: string
  action?: string
  object_id?: string
  from?: string
  to?: string
}

const NAMES = ['user', 'action', 'object_id', 'from', 'to'] as const

export const auditRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch =>
    Object.fromEntries(
      NAMES.filter((name) => search[name]).map((name) => [name, String(search[name])]),
    ),
  component: lazyRouteComponent(() => import('./AuditPage'), 'AuditPage'),
})

export const auditRoutes = [auditRoute] as const
