import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { MonitorFilter } from '../../api/queries/monitoring/monitor'
import { orgRoute } from '../../app/routes'
import { type RawSearch, textParam } from '../../lib/search'
import { validRange } from '../../ui/chart/timeRange'

export const monitorsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors',
  validateSearch: (search: RawSearch): MonitorFilter => ({
    q: textParam(search.q),
    state: textParam(search.state),
    kind: textParam(search.kind),
    host: textParam(search.host),
    tag: textParam(search.tag),
  }),
  component: lazyRouteComponent(() => import('./list/MonitorsPage'), 'MonitorsPage'),
})

interface NewMonitorSearch {
  kind?: string
  host?: string
}

export const newMonitorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/new',
  validateSearch: (search: RawSearch): NewMonitorSearch => ({
    kind: textParam(search.kind),
    host: textParam(search.host),
  }),
  component: lazyRouteComponent(() => import('./form/MonitorEditPage'), 'NewMonitorPage'),
})

export const monitorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/$id',
  validateSearch: validRange,
  component: lazyRouteComponent(() => import('./detail/MonitorPage'), 'MonitorPage'),
})

export const monitorHistoryRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/$id/history',
  validateSearch: validRange,
  component: lazyRouteComponent(() => import('./detail/HistoryPage'), 'HistoryPage'),
})

export const monitorSettingsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/$id/settings',
  component: lazyRouteComponent(() => import('./form/MonitorEditPage'), 'EditMonitorPage'),
})

export const monitorRoutes = [
  monitorsRoute,
  newMonitorRoute,
  monitorRoute,
  monitorHistoryRoute,
  monitorSettingsRoute,
] as const
