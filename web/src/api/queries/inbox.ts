import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../client'
import { fullPage, nextAfter } from '../fullPage'
import type { Job } from './job'

/** The inbox does not read the complete history: only this many of the newest jobs. */
const LOOK = 20_000

export type PendingDecision = Shape<'PendingDecision'>
export type Notice = Shape<'NotificationRecord'>

/** The server returns no more of them at once. */
export const PENDING_KEYS = 200

/** Approvals and inputs that I may answer, newest first. */
export const pendingQuery = queryOptions({
  queryKey: ['job', 'needs'],
  queryFn: () =>
    ok<PendingDecision[]>(
      api.GET('/-/needs', { params: { query: untypedQuery({ limit: PENDING_KEYS }) } }),
    ),
})

const PAGE = 100

/** Alerts, newest first, a page at a time. */
export const noticesQuery = (unreadOnly: boolean) =>
  infiniteQueryOptions({
    queryKey: ['notification', 'list', unreadOnly],
    queryFn: ({ pageParam, signal }) =>
      fullPage<Notice>(PAGE, pageParam, (page) => {
        const query = untypedQuery({ ...page, 'where[read]': unreadOnly ? false : undefined })
        return okWithTotal(api.GET('/notification', { params: { query }, signal })) as never
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => nextAfter(last, PAGE),
  })

/** Jobs that I started and that have ended. */
export const startedByMeQuery = (userId: string) =>
  queryOptions({
    queryKey: ['job', 'list', 'mine', userId],
    queryFn: async () => {
      const query = untypedQuery({
        'where[user_id]': userId,
        'where[origin]': 'user',
        'where[lifecycle][$in][]': ['finished', 'terminated', 'expired', 'canceled'],
        limit: 50,
        look: LOOK,
      })
      return (await ok(api.GET('/job', { params: { query } }))) as Job[]
    },
  })

/** The last decisions: approvals and rejections by anyone. */
export const decisionsQuery = queryOptions({
  queryKey: ['job', 'list', 'decisions'],
  queryFn: async () => {
    const query = untypedQuery({
      'where[_type]': 'ApprovalJob',
      'where[lifecycle]': 'finished',
      limit: 5,
      look: LOOK,
    })
    return (await ok(api.GET('/job', { params: { query } }))) as Job[]
  },
})
