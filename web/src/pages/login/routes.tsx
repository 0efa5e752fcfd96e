import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/routes'

const setupRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyRouteComponent(() => import('./SetupPage'), 'SetupPage'),
})

const recoverRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/recover',
  component: lazyRouteComponent(() => import('./RecoverPage'), 'RecoverPage'),
})

/** /ui/link#bvl_…: an invitation or a new password. Behind the #, so no server sees the token. */
const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/link',
  component: lazyRouteComponent(() => import('./LinkPage'), 'LinkPage'),
})

export const loginRoutes = [setupRoute, recoverRoute, linkRoute] as const
