import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { TaskFilter } from '../../api/queries/automation/task'
import { orgRoute } from '../../app/routes'

export interface TasksSearch extends TaskFilter {
  /** Only those whose last run has this look. */
  last?: 'ok' | 'fail' | 'run' | 'never'
}

const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)
const LASTS = ['ok', 'fail', 'run', 'never']

export const tasksRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks',
  validateSearch: (search: Record<string, unknown>): TasksSearch => ({
    q: search.q === undefined ? undefined : String(search.q),
    tag: text(search.tag),
    host: text(search.host),
    type: text(search.type),
    last: LASTS.includes(search.last as string) ? (search.last as TasksSearch['last']) : undefined,
  }),
  component: lazyRouteComponent(() => import('./list/TasksPage'), 'TasksPage'),
})

interface NewSearch {
  template?: string
  script?: string
  host?: string
}

export const newTaskRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks/new',
  validateSearch: (search: Record<string, unknown>): NewSearch => ({
    template: text(search.template),
    script: text(search.script),
    host: text(search.host),
  }),
  component: lazyRouteComponent(() => import('./form/NewTaskPage'), 'NewTaskPage'),
})

interface TaskSearch {
  /** Opens the run dialog. */
  run?: boolean
}

const validateTask = (search: Record<string, unknown>): TaskSearch =>
  search.run === true || search.run === 'true' ? { run: true } : {}

export const taskRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks/$id',
  validateSearch: validateTask,
  component: lazyRouteComponent(() => import('./detail/TaskPage'), 'TaskPage'),
})

export const taskTabRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/tasks/$id/$tab',
  validateSearch: validateTask,
  component: lazyRouteComponent(() => import('./detail/TaskPage'), 'TaskPage'),
})

export const tasksRoutes = [tasksRoute, newTaskRoute, taskRoute, taskTabRoute] as const
