import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, loose, ok } from '../../api/client'
import { positions } from './positions'
import type { LogStore } from './store'

interface Hits {
  matches: number
  lines: { line: number }[]
}

export type Step = (by: 1 | -1) => void

interface Found {
  /** Lines that hold the text, over the whole log; null: not known yet. */
  matches: number | null
  /** Which of them is shown, from 1; null: beyond those that the server names. */
  at: number | null
  step: Step
}

export interface Finding {
  store: LogStore
  jobId: string
  attempt: number | undefined
  wanted: string
  /** The first row on the screen: from there on is looked for. */
  here: () => number
  /** The row that is shown, and what shows another. */
  row: number | null
  onRow: (row: number | null) => void
}

const AGAIN_MS = 3_000

function useHits(jobId: string, attempt: number | undefined, wanted: string, isLive: boolean) {
  const [settled] = useDebouncedValue(wanted, 200)
  return useQuery({
    queryKey: ['log-find', jobId, attempt, settled],
    queryFn: ({ signal }): Promise<Hits> => {
      const query = loose({ q: settled, limit: 1000, attempt })
      const params = { path: { id: jobId }, query }
      return ok(api.GET('/job/{id}/log/search', { params, signal }) as never)
    },
    enabled: settled.length > 0,
    placeholderData: (old) => (settled ? keepPreviousData(old) : undefined),
    refetchInterval: isLive ? AGAIN_MS : false,
  })
}

/** Finding: the server looks through the whole log and counts; steps go from line to line. */
export function useFind({ store, jobId, attempt, wanted, here, row, onRow }: Finding): Found {
  const { data, isPlaceholderData } = useHits(jobId, attempt, wanted, store.status === 'live')
  const hits = (data?.lines ?? []).map((one) => store.rowOf(one.line))
  const step: Step = (by) => onRow(next(store, hits, data?.matches ?? 0, wanted, row ?? here(), by))

  // biome-ignore lint/correctness/useExhaustiveDependencies: only another search jumps
  useEffect(() => {
    if (!data || isPlaceholderData) onRow(null)
    else onRow(hits.find((one) => one >= here()) ?? hits[0] ?? null)
  }, [wanted, !data, isPlaceholderData])

  const at = row === null ? -1 : hits.indexOf(row)
  return { matches: data?.matches ?? null, at: at >= 0 ? at + 1 : null, step }
}

/** The next row that holds the text; behind those that the server names, the tab looks itself. */
export function next(
  store: LogStore,
  hits: number[],
  matches: number,
  wanted: string,
  from: number,
  by: 1 | -1,
): number | null {
  const last = hits.at(-1)
  if (last === undefined) return null
  const isNamed = matches <= hits.length || (by > 0 ? from < last : from <= last && from > hits[0]!)
  if (isNamed) {
    const order = by > 0 ? hits : [...hits].reverse()
    return order.find((row) => (row - from) * by > 0) ?? order[0]!
  }
  for (let i = 1; i <= store.rows; i++) {
    const row = (from + i * by + store.rows * 2) % store.rows
    if (positions(store.plain(row), wanted).length) return row
  }
  return last
}
