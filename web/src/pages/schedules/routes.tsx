import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { sought } from '../../ui/list/listSearch'

export const schedulesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/schedules',
  validateSearch: sought,
  component: lazyRouteComponent(() => import('./list/SchedulesPage'), 'SchedulesPage'),
})

interface NewSearch {
  task?: string
  workflow?: string
}

const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined)

export const newScheduleRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/schedules/new',
  validateSearch: (search: Record<string, unknown>): NewSearch => ({
    task: text(search.task),
    workflow: text(search.workflow),
  }),
  component: lazyRouteComponent(() => import('./form/NewSchedulePage'), 'NewSchedulePage'),
})

export const scheduleRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/schedules/$id',
  component: lazyRouteComponent(() => import('./detail/SchedulePage'), 'SchedulePage'),
})

export const schedulesRoutes = [schedulesRoute, newScheduleRoute, scheduleRoute] as const
