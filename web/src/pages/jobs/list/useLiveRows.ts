import { type InfiniteData, useQuery, useQueryClient } from '@tanstack/react-query'
import { type RefObject, useCallback, useEffect, useRef } from 'react'
import type { RowsWithTotal } from '../../../api/client'
import { onEvents } from '../../../api/live'
import { type Job, type JobFilter, newerQuery, readJobs, readNewer } from '../../../api/queries/job'

type Pages = InfiniteData<RowsWithTotal<Job[]>, string>

const EVERY_MS = 800
const AT_ONCE = 100
const AT_TOP_PX = 4

/**
 * Keeps a long list true without reading it all again: rows that changed are read by their ids,
 * new ones are put on top when the reader is there, and else counted for the button.
 */
export function useLiveRows(filter: JobFilter, newest: string, box: RefObject<HTMLElement | null>) {
  const client = useQueryClient()
  const key = ['job', 'list', filter]
  const now = useRef({ key, newest, filter })
  now.current = { key, newest, filter }
  useChanged((ids) => void mend(ids))

  const mend = async (ids: Set<string>) => {
    const { key } = now.current
    const rows = client.getQueryData<Pages>(key)?.pages.flatMap((page) => page.rows) ?? []
    const changedIds = rows.filter((row) => ids.has(row.id)).map((row) => row.id)
    for (let at = 0; at < changedIds.length; at += AT_ONCE) {
      const fresh = new Map(
        (await readJobs(changedIds.slice(at, at + AT_ONCE))).map((job) => [job.id, job]),
      )
      client.setQueryData<Pages>(key, (old) => old && replaceJobs(old, fresh))
    }
  }

  const { data: fresh = 0 } = useQuery(newerQuery(filter, newest))
  const take = useCallback(async () => {
    const { key, newest, filter } = now.current
    const rows = await readNewer(filter, newest).catch(() => [])
    if (rows === null) return client.resetQueries({ queryKey: key, exact: true })
    if (now.current.newest === newest)
      client.setQueryData<Pages>(key, (old) => old && prependNew(old, rows))
  }, [client])
  const isAtTop = () => (box.current?.scrollTop ?? 0) < AT_TOP_PX
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at when something came
  useEffect(() => {
    if (fresh && isAtTop()) void take()
  }, [fresh, newest])
  const show = () => {
    box.current?.scrollTo({ top: 0 })
    void take()
  }
  // The position is read only when it matters: reading it costs a layout.
  return {
    fresh: fresh && isAtTop() ? 0 : fresh,
    show,
    prependNew: () => fresh > 0 && isAtTop() && void take(),
  }
}

/** Ids of jobs that something happened to, gathered for a while. */
function useChanged(onChanged: (ids: Set<string>) => void): void {
  const now = useRef(onChanged)
  now.current = onChanged
  useEffect(() => {
    let ids = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const undo = onEvents((events) => {
      for (const event of events) if (event.object === 'job') ids.add(event.object_id)
      if (!ids.size || timer) return
      timer = setTimeout(() => {
        timer = undefined
        now.current(ids)
        ids = new Set()
      }, EVERY_MS)
    })
    return () => {
      undo()
      clearTimeout(timer)
    }
  }, [])
}

function replaceJobs(old: Pages, fresh: Map<string, Job>): Pages {
  const pages = old.pages.map((page) =>
    page.rows.some((row) => fresh.has(row.id))
      ? { ...page, rows: page.rows.map((row) => fresh.get(row.id) ?? row) }
      : page,
  )
  return { ...old, pages }
}

/** New rows before the others; none twice. */
export function prependNew(old: Pages, rows: Job[]): Pages {
  const [first, ...rest] = old.pages
  if (!first) return old
  const ids = new Set(first.rows.map((row) => row.id))
  const fresh = rows.filter((row) => !ids.has(row.id))
  const total = first.total === null ? null : first.total + fresh.length
  return { ...old, pages: [{ ...first, rows: [...fresh, ...first.rows], total }, ...rest] }
}
