import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { type RawSearch, textParam } from '../../lib/search'
import { validListSearch } from '../../ui/list/listSearch'

export const schedulesRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/schedules',
  validateSearch: validListSearch,
  component: lazyRouteComponent(() => import('./list/SchedulesPage'), 'SchedulesPage'),
})

interface NewScheduleSearch {
  task?: string
  workflow?: string
}

export const newScheduleRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/schedules/new',
  validateSearch: (search: RawSearch): NewScheduleSearch => ({
    task: textParam(search.task),
    workflow: textParam(search.workflow),
  }),
  component: lazyRouteComponent(() => import('./form/NewSchedulePage'), 'NewSchedulePage'),
})

export const scheduleRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/schedules/$id',
  component: lazyRouteComponent(() => import('./detail/SchedulePage'), 'SchedulePage'),
})

export const schedulesRoutes = [schedulesRoute, newScheduleRoute, scheduleRoute] as const
