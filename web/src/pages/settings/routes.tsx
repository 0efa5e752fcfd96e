import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'

const indexRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/settings',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/$customer/settings/$tab', params: { ...params, tab: 'appearance' } })
  },
})

export const settingsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/settings/$tab',
  component: lazyRouteComponent(() => import('./SettingsPage'), 'SettingsPage'),
})

export const settingsRoutes = [indexRoute, settingsRoute] as const
