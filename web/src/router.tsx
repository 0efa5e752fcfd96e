import type { QueryClient } from '@tanstack/react-query'
import { createRouter } from '@tanstack/react-router'
import { UI } from './api/client'
import { ErrorPage, NotFoundPage } from './app/ErrorPage'
import { homeRoute, notFoundRoute, orgRoute, rootRoute } from './app/routes'
import { auditRoutes } from './pages/audit/routes'
import { dashboardRoutes } from './pages/dashboard/routes'
import { hostRoutes } from './pages/hosts/routes'
import { inboxRoutes } from './pages/inbox/routes'
import { indicatorRoutes } from './pages/indicators/routes'
import { jobRoutes } from './pages/jobs/routes'
import { loginRoutes } from './pages/login/routes'
import { monitorRoutes } from './pages/monitors/routes'
import { peopleRoutes } from './pages/people/routes'
import { schedulesRoutes } from './pages/schedules/routes'
import { scriptsRoutes } from './pages/scripts/routes'
import { secretsRoutes } from './pages/secrets/routes'
import { settingsRoutes } from './pages/settings/routes'
import { publicRoutes, statusRoutes } from './pages/status/routes'
import { tasksRoutes } from './pages/tasks/routes'
import { wallRoutes } from './pages/wall/routes'
import { webhooksRoutes } from './pages/webhooks/routes'
import { workflowsRoutes } from './pages/workflows/routes'

const tree = rootRoute.addChildren([
  homeRoute,
  ...loginRoutes,
  ...wallRoutes,
  ...publicRoutes,
  orgRoute.addChildren([
    ...tasksRoutes,
    ...secretsRoutes,
    ...webhooksRoutes,
    ...schedulesRoutes,
    ...scriptsRoutes,
    ...dashboardRoutes,
    ...inboxRoutes,
    ...jobRoutes,
    ...monitorRoutes,
    ...hostRoutes,
    ...indicatorRoutes,
    ...statusRoutes,
    ...peopleRoutes,
    ...auditRoutes,
    ...settingsRoutes,
    ...workflowsRoutes,
    notFoundRoute,
  ]),
])

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: UI,
    context: { client },
    defaultPreload: 'intent',
    scrollRestoration: true,
    // The navigation stays when a page fails.
    defaultErrorComponent: ErrorPage,
    defaultNotFoundComponent: NotFoundPage,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}
