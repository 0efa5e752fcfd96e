import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { sought } from '../../ui/list/listSearch'

export const TABS = ['graph', 'jobs', 'triggers', 'access', 'api', 'history', 'settings'] as const
export type Tab = (typeof TABS)[number]

export const workflowsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows',
  validateSearch: sought,
  component: lazyRouteComponent(() => import('./list/WorkflowsPage'), 'WorkflowsPage'),
})

export const newWorkflowRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows/new',
  component: lazyRouteComponent(() => import('./list/NewWorkflowPage'), 'NewPage'),
})

interface PageSearch {
  /** A past run, drawn over the graph. */
  job?: string
  run?: boolean
  edit?: boolean
  table?: boolean
}

function pageSearch(search: Record<string, unknown>): PageSearch {
  return {
    ...(search.job ? { job: String(search.job) } : {}),
    ...(search.run ? { run: true } : {}),
    ...(search.edit ? { edit: true } : {}),
    ...(search.table ? { table: true } : {}),
  }
}

export const workflowRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows/$id',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('./detail/WorkflowPage'), 'WorkflowPage'),
})

export const workflowTabRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows/$id/$tab',
  validateSearch: pageSearch,
  component: lazyRouteComponent(() => import('./detail/WorkflowPage'), 'WorkflowPage'),
})

export const workflowsRoutes = [
  workflowsRoute,
  newWorkflowRoute,
  workflowRoute,
  workflowTabRoute,
] as const
