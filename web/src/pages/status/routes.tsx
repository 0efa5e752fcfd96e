import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute, rootRoute } from '../../app/routes'

/** The token of a link in a mail to a subscriber. */
interface LinkSearch {
  confirm?: string
  unsubscribe?: string
}

/** For anybody, without a sign-in. */
export const publicStatusRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/status/$slug',
  validateSearch: (search: Record<string, unknown>): LinkSearch => ({
    ...(typeof search.confirm === 'string' ? { confirm: search.confirm } : {}),
    ...(typeof search.unsubscribe === 'string' ? { unsubscribe: search.unsubscribe } : {}),
  }),
  component: lazyRouteComponent(() => import('./public/PublicStatusPage'), 'PublicStatusPage'),
})

export const statusRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/status',
  component: lazyRouteComponent(() => import('./StatusPagesPage'), 'StatusPagesPage'),
})

export const newStatusRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/status/new',
  component: lazyRouteComponent(() => import('./StatusEditPage'), 'NewStatusPage'),
})

export const editStatusRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/status/$id',
  component: lazyRouteComponent(() => import('./StatusEditPage'), 'EditStatusPage'),
})

export const publicRoutes = [publicStatusRoute] as const
export const statusRoutes = [statusRoute, newStatusRoute, editStatusRoute] as const
