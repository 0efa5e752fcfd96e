import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import type { JobFilter } from '../../../api/queries/job'

interface Kept {
  top: number
  row: string | null
}

// Where each visit of the list stood: going back finds it there.
const kept = new Map<string, Kept>()
const MOST = 50

export interface Top {
  /** Where the list stood when this address was left. */
  start: Kept
  keep: (change: Partial<Kept>) => void
}

/** Remembers the scroll of a list by its entry in the history. */
export function useTop(filter: JobFilter): Top {
  const key = useLocation({
    select: (location) => (location.state as { __TSR_key?: string }).__TSR_key ?? 'first',
  })
  const client = useQueryClient()
  const now = useRef(key)
  now.current = key
  return useMemo(() => {
    const start = kept.get(`${key} ${JSON.stringify(filter)}`) ?? { top: 0, row: null }
    const name = `${key} ${JSON.stringify(filter)}`
    const isThere = client.getQueryData(['job', 'list', filter] as QueryKey) !== undefined
    return {
      start: isThere ? start : { top: 0, row: null },
      keep: (change) => {
        kept.set(name, { ...(kept.get(name) ?? { top: 0, row: null }), ...change })
        if (kept.size > MOST) kept.delete(kept.keys().next().value!)
      },
    }
  }, [key, filter, client])
}
