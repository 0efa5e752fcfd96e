import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { requireMember, rootRoute } from '../../app/routes'

/** Signed in, but without navigation: for a screen on a wall. */
export const wallRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$customer/wall',
  beforeLoad: requireMember,
  component: lazyRouteComponent(() => import('./WallPage'), 'WallPage'),
})

export const wallRoutes = [wallRoute] as const
