import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../client'

/** The quick checks of `belvedere doctor`; only for owners. */
export const doctorQuery = queryOptions({
  queryKey: ['doctor'],
  queryFn: () => ok(api.GET('/api/doctor')),
  staleTime: 10_000,
})
