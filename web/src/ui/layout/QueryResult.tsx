import { Alert, Button, Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { SearchX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError } from '../../api/errors'
import { useWords } from '../text'
import { EmptyState } from './EmptyState'

interface Props<T> {
  query: UseQueryResult<T>
  /** How many placeholder lines are shown while it loads. */
  lines?: number
  children: (data: T) => ReactNode
}

/** A query's three faces: loading, failed with a way on, and there. Old data stays on screen
 * while fresh data comes. */
export function QueryResult<T>({ query, lines = 6, children }: Props<T>) {
  const w = useWords()
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error instanceof ApiError && query.error.status === 404) {
    return (
      <EmptyState icon={SearchX} title={w.notFound}>
        {w.notFoundBody}
      </EmptyState>
    )
  }
  if (query.isError) {
    return (
      <Alert m="md" color="red" icon={<TriangleAlert size={16} />} title={w.failed}>
        <Stack gap={8} align="flex-start">
          {query.error.message}
          <Button variant="default" onClick={() => query.refetch()}>
            {w.retry}
          </Button>
        </Stack>
      </Alert>
    )
  }
  return (
    <Stack gap={10} p="md" role="status" aria-busy="true" aria-label={w.loading}>
      {Array.from({ length: lines }, (_, i) => (
        <Skeleton key={i} height={18} width={`${90 - ((i * 13) % 40)}%`} />
      ))}
    </Stack>
  )
}
