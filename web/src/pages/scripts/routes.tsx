import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

interface ScriptsSearch {
  q?: string
}

export const scriptsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/scripts',
  validateSearch: (search: Record<string, unknown>): ScriptsSearch =>
    search.q === undefined || search.q === '' ? {} : { q: String(search.q) },
  component: lazyRouteComponent(() => import('./ScriptsPage'), 'ScriptsPage'),
})

export const newScriptRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/scripts/new',
  component: lazyRouteComponent(() => import('./NewScriptPage'), 'NewScriptPage'),
})

export const scriptRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/scripts/$id',
  component: lazyRouteComponent(() => import('./ScriptPage'), 'ScriptPage'),
})

export const scriptsRoutes = [scriptsRoute, newScriptRoute, scriptRoute] as const
