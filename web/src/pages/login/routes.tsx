import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../../app/routes'
import { validLoginSearch } from './search'

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: validLoginSearch,
  component: lazyRouteComponent(() => import('./LoginPage'), 'LoginPage'),
})

const switchRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/switch',
  validateSearch: validLoginSearch,
  component: lazyRouteComponent(() => import('./SwitchPage'), 'SwitchPage'),
})

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

export const loginRoutes = [loginRoute, switchRoute, setupRoute, recoverRoute, linkRoute] as const
