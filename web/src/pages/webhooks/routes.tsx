import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { orgRoute } from '../../app/routes'
import { validListSearch } from '../../ui/list/listSearch'

export const webhooksRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/webhooks',
  validateSearch: validListSearch,
  component: lazyRouteComponent(() => import('./WebhooksPage'), 'WebhooksPage'),
})

export const newWebhookRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/webhooks/new',
  component: lazyRouteComponent(() => import('./form/NewWebhookPage'), 'NewWebhookPage'),
})

export const webhookRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/webhooks/$id',
  component: lazyRouteComponent(() => import('./detail/WebhookPage'), 'WebhookPage'),
})

export const webhooksRoutes = [webhooksRoute, newWebhookRoute, webhookRoute] as const
