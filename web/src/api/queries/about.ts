import { queryOptions } from '@tanstack/react-query'
import { api, ok } from '../client'

/** What the server is made of. */
export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: () => ok(api.GET('/api/about')),
})
