import { queryOptions } from '@tanstack/react-query'
import { api, ok, untypedQuery } from '../../../api/client'

/** Stored files by name, for the fields of a monitor that refer to one. */
export const fileNamesQuery = queryOptions({
  queryKey: ['file', 'names'],
  queryFn: () => ok(api.GET('/file', { params: { query: untypedQuery({ 'sort[filename]': 1 }) } })),
})
