import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../client'

/** The numbers beside the navigation's entries; read again after whatever changes them. */
export const countsQuery = queryOptions({
  queryKey: ['counts'],
  queryFn: () => ok(api.GET('/-/counts')),
  staleTime: 5_000,
  meta: { after: ['job', 'monitor', 'host', 'indicator', 'notification'] },
})
