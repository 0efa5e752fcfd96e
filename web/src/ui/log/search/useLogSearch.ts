import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, ok, untypedQuery } from '../../../api/client'
import { showError } from '../../toast'
import type { LogStore } from '../data/logStore'
import {
  type HitQuery,
  type Hits,
  lastPage,
  MAX_HITS,
  type Page,
  pageAfter,
  pageBefore,
} from './hitPages'

export type Step = (by: 1 | -1) => void

interface SearchState {
  /** Lines that contain the text in the complete log; null: not known yet. */
  matches: number | null
  /** Which of them is shown, from 1; null: none. */
  at: number | null
  step: Step
}

export interface LogSearch {
  store: LogStore
  jobId: string
  attempt: number | undefined
  needle: string
  /** The first row on the screen: from there on is looked for. */
  here: () => number
  /** The row that is shown, and what shows another. */
  row: number | null
  onRow: (row: number | null) => void
}

const AGAIN_MS = 3_000

function hitsQuery(jobId: string, attempt: number | undefined, needle: string, from: number) {
  return {
    queryKey: ['log-find', jobId, attempt, needle, from],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<Hits> => {
      const query = untypedQuery({ q: needle, limit: MAX_HITS, attempt, from: from || undefined })
      const params = { path: { id: jobId }, query }
      return ok(api.GET('/job/{id}/log/search', { params, signal }) as never)
    },
  }
}

/** The first matches of the complete log, and how to request those after a byte. */
function useHits(jobId: string, attempt: number | undefined, needle: string, isLive: boolean) {
  const client = useQueryClient()
  const [settled] = useDebouncedValue(needle, 200)
  const { data, isPlaceholderData } = useQuery({
    ...hitsQuery(jobId, attempt, settled, 0),
    enabled: settled.length > 0,
    placeholderData: (old) => (settled ? keepPreviousData(old) : undefined),
    refetchInterval: isLive ? AGAIN_MS : false,
  })
  const query: HitQuery = (from) =>
    client.fetchQuery({ ...hitsQuery(jobId, attempt, settled, from), staleTime: AGAIN_MS })
  return { data, isPlaceholderData, ask: query, search: JSON.stringify([jobId, attempt, settled]) }
}

/** Search: the server searches and counts in the complete log; steps go from match to match. */
export function useLogSearch({
  store,
  jobId,
  attempt,
  needle,
  here,
  row,
  onRow,
}: LogSearch): SearchState {
  const isLive = store.status === 'live'
  const { data, isPlaceholderData, ask: query, search } = useHits(jobId, attempt, needle, isLive)
  const start: Page = { first: 1, lines: data?.lines ?? [] }
  // Hits further down, once a step has led there.
  const [laterPage, setLaterPage] = useState({ search, page: null as Page | null })
  const page = (laterPage.search === search && laterPage.page) || start
  const rows = page.lines.map((hit) => store.rowOf(hit.line))
  const isBusy = useRef(false)

  const show = (next: Page, by: 1 | -1) => {
    setLaterPage({ search, page: next.first === 1 ? null : next })
    const hit = by > 0 ? next.lines[0] : next.lines.at(-1)
    onRow(hit ? store.rowOf(hit.line) : null)
  }
  const turn = async (by: 1 | -1) => {
    const beyond = await (by > 0 ? pageAfter(query, page) : pageBefore(query, page))
    const around = async () =>
      by > 0 ? start : lastPage(query, data?.matches ?? 0, await endOf(jobId, attempt, store))
    show(beyond ?? (await around()) ?? start, by)
  }
  const step: Step = (by) => {
    const near = nextIn(rows, row ?? here(), by)
    if (near !== null) onRow(near)
    else if (!isBusy.current) {
      isBusy.current = true
      void turn(by)
        .catch(showError)
        .finally(() => {
          isBusy.current = false
        })
    }
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only another search jumps
  useEffect(() => {
    if (!data || isPlaceholderData) onRow(null)
    else onRow(rows.find((candidate) => candidate >= here()) ?? rows[0] ?? null)
  }, [needle, !data, isPlaceholderData])

  const at = row === null ? -1 : rows.indexOf(row)
  return { matches: data?.matches ?? null, at: at >= 0 ? page.first + at : null, step }
}

/** The byte where the log ends, or has arrived at. */
async function endOf(id: string, attempt: number | undefined, store: LogStore): Promise<number> {
  if (store.ending) return store.ending.bytes
  const query = untypedQuery({ from: store.lines, count: 1, attempt })
  const request = api.GET('/job/{id}/log/lines', { params: { path: { id }, query } })
  return (await ok<{ next: number }>(request as never)).next
}

/** The row of the next hit among these; null: it is in another page. */
export function nextIn(rows: number[], from: number, by: 1 | -1): number | null {
  const order = by > 0 ? rows : [...rows].reverse()
  return order.find((row) => (row - from) * by > 0) ?? null
}
