import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import type { JobFilter } from '../../../api/queries/job'

interface StoredOffset {
  top: number
  row: string | null
}

// Scroll position per history entry, restored when going back.
const offsets = new Map<string, StoredOffset>()
const MOST = 50

export interface ScrollTop {
  /** Where the list stood when this address was left. */
  start: StoredOffset
  keep: (change: Partial<StoredOffset>) => void
}

/** Remembers the scroll of a list by its entry in the history. */
export function useScrollTop(filter: JobFilter): ScrollTop {
  const key = useLocation({
    select: (location) => (location.state as { __TSR_key?: string }).__TSR_key ?? 'first',
  })
  const client = useQueryClient()
  const now = useRef(key)
  now.current = key
  return useMemo(() => {
    const start = offsets.get(`${key} ${JSON.stringify(filter)}`) ?? { top: 0, row: null }
    const name = `${key} ${JSON.stringify(filter)}`
    const isThere = client.getQueryData(['job', 'list', filter] as QueryKey) !== undefined
    return {
      start: isThere ? start : { top: 0, row: null },
      keep: (change) => {
        offsets.set(name, { ...(offsets.get(name) ?? { top: 0, row: null }), ...change })
        if (offsets.size > MOST) offsets.delete(offsets.keys().next().value!)
      },
    }
  }, [key, filter, client])
}
