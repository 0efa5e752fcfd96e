import { queryOptions } from '@tanstack/react-query'
import { api, loose, ok, type Shape } from '../client'

export const channelsQuery = queryOptions({
  queryKey: ['channel', 'list'],
  queryFn: () => ok<Shape<'ChannelRecord'>[]>(api.GET('/notify/channel')),
})

export const rulesQuery = queryOptions({
  queryKey: ['rule', 'list'],
  queryFn: () => ok<Shape<'RuleRecord'>[]>(api.GET('/notify/rule')),
})

export const messagesQuery = (state: string) =>
  queryOptions({
    queryKey: ['message', 'list', state],
    queryFn: () =>
      ok<Shape<'MessageRecord'>[]>(
        api.GET('/notify/message', {
          params: {
            query: loose({
              limit: 50,
              'sort[id]': -1,
              ...(state ? { 'where[state]': state } : {}),
            }),
          },
        }),
      ),
    refetchInterval: 10_000,
  })
