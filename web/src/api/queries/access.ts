import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../client'

export const membersQuery = queryOptions({
  queryKey: ['member', 'list'],
  queryFn: () => ok(api.GET('/api/member')),
})

export const tokensQuery = queryOptions({
  queryKey: ['token', 'list'],
  queryFn: () => ok(api.GET('/api/token')),
})

export const enrolmentsQuery = queryOptions({
  queryKey: ['enrolment', 'list'],
  queryFn: () => ok(api.GET('/api/enrolment')),
})

export const customerQuery = queryOptions({
  queryKey: ['customer'],
  queryFn: () => ok(api.GET('/api/customer')),
})

export const sessionsQuery = queryOptions({
  queryKey: ['session', 'list'],
  queryFn: () => ok(api.GET('/api/session')),
})
