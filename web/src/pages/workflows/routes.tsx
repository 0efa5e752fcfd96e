import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validListSearch } from '../../ui/list/listSearch'
import { validWorkflowSearch } from './search'

export const workflowsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows',
  validateSearch: validListSearch,
  component: lazyRouteComponent(() => import('./list/WorkflowsPage'), 'WorkflowsPage'),
})

export const newWorkflowRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows/new',
  component: lazyRouteComponent(() => import('./list/NewWorkflowPage'), 'NewWorkflowPage'),
})

export const workflowRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows/$id',
  validateSearch: validWorkflowSearch,
  component: lazyRouteComponent(() => import('./detail/WorkflowPage'), 'WorkflowPage'),
})

export const workflowTabRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/workflows/$id/$tab',
  validateSearch: validWorkflowSearch,
  component: lazyRouteComponent(() => import('./detail/WorkflowPage'), 'WorkflowPage'),
})

export const workflowsRoutes = [
  workflowsRoute,
  newWorkflowRoute,
  workflowRoute,
  workflowTabRoute,
] as const
