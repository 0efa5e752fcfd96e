import { queryOptions } from '@tanstack/react-query'
import { api, ok, untypedQuery } from '../../client'

/** Every workflow's name, to choose from. */
export const workflowNamesQuery = queryOptions({
  queryKey: ['workflow', 'names'],
  queryFn: () =>
    ok(api.GET('/workflows', { params: { query: untypedQuery({ 'sort[name]': 1 }) } })),
  staleTime: 60_000,
})
