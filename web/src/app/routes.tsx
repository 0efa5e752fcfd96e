import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router'
import { setCustomer } from '../api/client'
import { ApiError } from '../api/errors'
import { ErrorPage, NotFoundPage } from './ErrorPage'
import { profileQuery } from './session'
import { Shell } from './shell/Shell'

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
})

interface RouteArgs {
  context: { client: QueryClient }
  params: { customer: string }
  location: { href: string; pathname: string }
}

/** Shows its content to people who are signed in to this organization; others are redirected. */
export async function requireMember({ context, params, location }: RouteArgs): Promise<void> {
  const { href: to, pathname } = location
  const profile = await context.client.ensureQueryData(profileQuery).catch((fault) => {
    if (fault instanceof ApiError && (fault.status === 401 || fault.status === 403))
      throw redirect({ to: '/login', search: { to } })
    throw fault
  })
  const { current_customer: here, customers } = profile
  const isNamed = ({ name }: { name: string }) =>
    name.toLowerCase() === params.customer.toLowerCase()
  if (isNamed(here)) return setCustomer(here.name)
  if (customers.some(isNamed)) throw redirect({ to: '/switch', search: { to } })
  // Not one of their organizations: shown as an unknown address, with links to other pages.
  throw redirect({
    to: '/$customer/$',
    params: { customer: here.name, _splat: pathname.replace(/^\//, '') },
    replace: true,
  })
}

/** Everything below needs a person and an organization: /ui/acme/… */
export const orgRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$customer',
  component: Shell,
  beforeLoad: requireMember,
})

/** The page for unknown addresses; inside the shell, unlike the router's own "not found". */
export const notFoundRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '$',
  component: NotFoundPage,
})

/** Redirects to the dashboard of the organization that the session is in. */
export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async ({ context }) => {
    const profile = await context.client.ensureQueryData(profileQuery).catch((fault) => {
      if (fault instanceof ApiError && fault.status !== 0)
        throw redirect({ to: '/login', search: {} })
      throw fault
    })
    throw redirect({ to: '/$customer', params: { customer: profile.current_customer.name } })
  },
})
