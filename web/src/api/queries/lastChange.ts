import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape, untypedQuery } from '../client'

/** Who saved the current version of an object; admins only. */
export const lastChangeQuery = (object: string, id: string, version: number) =>
  queryOptions({
    queryKey: [object, id, 'change', version],
    queryFn: async () => {
      const query = untypedQuery({ object, object_id: id, limit: 1 })
      const rows = await ok<Shape<'AuditRecord'>[]>(api.GET('/api/audit', { params: { query } }))
      return rows[0]?.user ?? ''
    },
  })
