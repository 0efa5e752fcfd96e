import { queryOptions } from '@tanstack/react-query'
import { api, ok, type Shape, untypedQuery } from '../../client'

export type Webhook = Shape<'WebhookRecord'>
export type Delivery = Shape<'DeliveryRecord'>

export const webhooksQuery = queryOptions({
  queryKey: ['webhook', 'list'],
  queryFn: () =>
    ok<Webhook[]>(api.GET('/webhook', { params: { query: untypedQuery({ 'sort[name]': 1 }) } })),
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: () => ok<Webhook>(api.GET('/webhook/{id}', { params: { path: { id } } })),
  })

/** Deliveries, newest first; admins only. */
export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id, 'deliveries'],
    queryFn: () => ok<Delivery[]>(api.GET('/webhook/{id}/delivery', { params: { path: { id } } })),
    meta: { after: ['job'] },
  })

export const deliveryQuery = (id: string, delivery_id: string) =>
  queryOptions({
    queryKey: ['webhook', id, 'delivery', delivery_id],
    queryFn: () => {
      const params = { path: { id, delivery_id } }
      return ok<Delivery>(api.GET('/webhook/{id}/delivery/{delivery_id}', { params }))
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
