import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../client'
import { fullPage, nextAfter } from '../fullPage'

export const channelsQuery = queryOptions({
  queryKey: ['channel', 'list'],
  queryFn: () => ok<Shape<'ChannelRecord'>[]>(api.GET('/notify/channel')),
})

export const rulesQuery = queryOptions({
  queryKey: ['rule', 'list'],
  queryFn: () => ok<Shape<'RuleRecord'>[]>(api.GET('/notify/rule')),
})

/** The conditions of a notification about a failure. */
export interface FailureFilter {
  kind: 'monitor.failure' | 'job.finished'
  objectIds: string[]
  tags: string[]
  severity?: string | undefined
}

/** The names of the channels that a failure is sent to; for managers, who may not read rules. */
export const recipientsQuery = ({ kind, objectIds, tags, severity }: FailureFilter) => {
  const query = {
    kind: kind === 'job.finished' ? 'task' : 'monitor',
    object: objectIds,
    tag: tags,
    severity: severity?.toUpperCase(),
  }
  return queryOptions({
    queryKey: ['rule', 'recipients', query],
    queryFn: () =>
      ok<Shape<'RecipientRecord'>[]>(
        api.GET('/notify/recipients', { params: { query: untypedQuery(query) } }),
      ),
  })
}

const PAGE = 50
// The delivery of a message has no events.
const TRIES_MS = 10_000

/** Messages, newest first, a page at a time. */
export const messagesQuery = (state: string) =>
  infiniteQueryOptions({
    queryKey: ['message', 'list', state],
    queryFn: ({ pageParam, signal }) =>
      fullPage<Shape<'MessageRecord'>>(PAGE, pageParam, (page) => {
        const query = untypedQuery({ ...page, 'sort[id]': -1, 'where[state]': state || undefined })
        return okWithTotal(api.GET('/notify/message', { params: { query }, signal })) as never
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => nextAfter(last, PAGE),
    // Many pages are read again less often.
    refetchInterval: (query) => TRIES_MS * Math.max(1, query.state.data?.pages.length ?? 1),
  })
