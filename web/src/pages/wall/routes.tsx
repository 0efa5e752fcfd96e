import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { enter, rootRoute } from '../../app/routes'

/** Signed in, but without the frame: a screen on a wall has nobody to click. */
export const wallRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$customer/wall',
  beforeLoad: enter,
  component: lazyRouteComponent(() => import('./WallPage'), 'WallPage'),
})

export const wallRoutes = [wallRoute] as const
