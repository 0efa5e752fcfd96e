import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validNewTaskSearch, validTaskSearch, validTasksSearch } from './search'

export const tasksRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks',
  validateSearch: validTasksSearch,
  component: lazyRouteComponent(() => import('./list/TasksPage'), 'TasksPage'),
})

export const newTaskRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks/new',
  validateSearch: validNewTaskSearch,
  component: lazyRouteComponent(() => import('./form/NewTaskPage'), 'NewTaskPage'),
})

export const taskRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks/$id',
  validateSearch: validTaskSearch,
  component: lazyRouteComponent(() => import('./detail/TaskPage'), 'TaskPage'),
})

export const taskTabRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks/$id/$tab',
  validateSearch: validTaskSearch,
  component: lazyRouteComponent(() => import('./detail/TaskPage'), 'TaskPage'),
})

export const tasksRoutes = [tasksRoute, newTaskRoute, taskRoute, taskTabRoute] as const
