import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../client'

/** The parts of the server. */
export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: () => ok(api.GET('/api/about')),
})
