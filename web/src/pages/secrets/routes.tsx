import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { type RawSearch, textParam } from '../../lib/search'

interface SecretsSearch {
  /** Only those of this task. */
  task?: string
  /** Opens the form. */
  set?: boolean
}

export const secretsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/secrets',
  validateSearch: (search: RawSearch): SecretsSearch => ({
    task: textParam(search.task),
    set: search.set === true || search.set === 'true' ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('./SecretsPage'), 'SecretsPage'),
})

export const secretsRoutes = [secretsRoute] as const
