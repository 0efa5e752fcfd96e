import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../client'

export type Secret = Shape<'SecretRecord'>

/** Names, never values; admins only. Those of every task too. */
export const secretsQuery = queryOptions({
  queryKey: ['secret', 'list'],
  queryFn: () => ok<Secret[]>(api.GET('/secret')),
})
