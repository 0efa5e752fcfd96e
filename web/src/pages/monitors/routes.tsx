import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { MonitorFilter } from '../../api/queries/monitoring/monitor'
import { orgRoute } from '../../app/routes'

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value ? value : undefined
}

export const monitorsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors',
  validateSearch: (search: Record<string, unknown>): MonitorFilter => ({
    q: word(search.q),
    state: word(search.state),
    kind: word(search.kind),
    host: word(search.host),
    tag: word(search.tag),
  }),
  component: lazyRouteComponent(() => import('./list/MonitorsPage'), 'MonitorsPage'),
})

interface New {
  kind?: string
  host?: string
}

export const newMonitorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/new',
  validateSearch: (search: Record<string, unknown>): New => ({
    kind: word(search.kind),
    host: word(search.host),
  }),
  component: lazyRouteComponent(() => import('./form/MonitorEditPage'), 'NewMonitorPage'),
})

export const RANGES = ['1h', '24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]
interface Seen {
  range?: Range
}

function seen(search: Record<string, unknown>): Seen {
  const range = RANGES.find((one) => one === search.range)
  return range ? { range } : {}
}

export const monitorRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/$id',
  validateSearch: seen,
  component: lazyRouteComponent(() => import('./detail/MonitorPage'), 'MonitorPage'),
})

export const monitorHistoryRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/monitors/$id/history',
  validateSearch: seen,
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
