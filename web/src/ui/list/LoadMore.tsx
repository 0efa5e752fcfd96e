import { Button, Center } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import { useEffect } from 'react'
import { useWords } from '../text'

interface Pages {
  hasNextPage: boolean
  isFetching: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  fetchNextPage: () => unknown
}

interface Props {
  /** An endless query. */
  query: Pages
  /** How many are not shown yet, where that is known. */
  remaining?: number | null
  /** Loads more when it is scrolled into view. */
  whenVisible?: boolean
}

/** The end of a list that has more rows: says how many, and loads them. */
export function LoadMore({ query, remaining, whenVisible = false }: Props) {
  const w = useWords()
  const { ref, entry } = useIntersection()
  const isDue = whenVisible && !!entry?.isIntersecting && query.hasNextPage && !query.isFetching
  // After a failure only the button tries again.
  const isFree = isDue && !query.isFetchNextPageError
  // biome-ignore lint/correctness/useExhaustiveDependencies: one page for each time that it is due
  useEffect(() => {
    if (isFree) query.fetchNextPage()
  }, [isFree])
  if (!query.hasNextPage) return null
  return (
    <Center ref={ref} p="sm">
      <Button
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => query.fetchNextPage()}
      >
        {remaining ? w.showMore(remaining) : w.showOlder}
      </Button>
    </Center>
  )
}
