import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

export const peopleRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/people',
  component: lazyRouteComponent(() => import('./PeoplePage'), 'PeoplePage'),
})

export const peopleRoutes = [peopleRoute] as const
