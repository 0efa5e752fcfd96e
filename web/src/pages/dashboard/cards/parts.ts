import { queryOptions } from '@tanstack/react-query'

/** Code of the dashboard that is needed only where there is something to show. It is a query, so
 * that the page can wait for it like for its data, and appears at once. */
const forever = { staleTime: Number.POSITIVE_INFINITY, structuralSharing: false } as const

export const problemsQuery = queryOptions({
  queryKey: ['code', 'problems'],
  queryFn: () => import('./ProblemsCard'),
  ...forever,
})

export const decisionRowsQuery = queryOptions({
  queryKey: ['code', 'decision-rows'],
  queryFn: () => import('./DecisionRow'),
  ...forever,
})
