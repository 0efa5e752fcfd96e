import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { requireMember, rootRoute } from '../../app/routes'

/** Signed in, but without the frame: a screen on a wall has nobody to click. */
export const wallRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$customer/wall',
  beforeLoad: requireMember,
  component: lazyRouteComponent(() => import('./WallPage'), 'WallPage'),
})

export const wallRoutes = [wallRoute] as const
