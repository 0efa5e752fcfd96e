import { useEffect } from 'react'

interface Pages {
  isFetching: boolean
  isError: boolean
  isPlaceholderData: boolean
  fetchNextPage: () => unknown
}

/** Reads the next page when the last one ended at the server's row budget, until a page is full or
 * there are no older jobs. After an error the button below the list continues. */
export function useContinued(query: Pages, until: string | null): void {
  const { isFetching, isError, isPlaceholderData, fetchNextPage } = query
  const isDue = until !== null && !isFetching && !isError && !isPlaceholderData
  // biome-ignore lint/correctness/useExhaustiveDependencies: each id continues once
  useEffect(() => {
    if (isDue) void fetchNextPage()
  }, [isDue, until])
}
