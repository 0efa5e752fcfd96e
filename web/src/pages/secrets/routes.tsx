import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

interface SecretsSearch {
  /** Only those of this task. */
  task?: string
  /** Opens the form. */
  set?: boolean
}

export const secretsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/secrets',
  validateSearch: (search: Record<string, unknown>): SecretsSearch => ({
    task: typeof search.task === 'string' && search.task ? search.task : undefined,
    set: search.set === true || search.set === 'true' ? true : undefined,
  }),
  component: lazyRouteComponent(() => import('./SecretsPage'), 'SecretsPage'),
})

export const secretsRoutes = [secretsRoute] as const
