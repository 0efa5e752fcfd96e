import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Job } from '../../../api/queries/job'

export interface Selection {
  chosen: Set<string>
  toggle: (id: string, isRange?: boolean) => void
  clear: () => void
}

/** Which rows are chosen; shift takes all from the last one that was. */
export function useSelection(rows: Job[], reset: string): Selection {
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const last = useRef<string | null>(null)
  const now = useRef(rows)
  now.current = rows
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters show other rows
  useEffect(() => setChosen((old) => (old.size ? new Set() : old)), [reset])
  // The same function for every row, or all of them would be rendered again when one is selected.
  const toggle = useCallback((id: string, isRange = false) => {
    const ids = now.current.map((row) => row.id)
    const from = isRange && last.current ? ids.indexOf(last.current) : -1
    last.current = id
    setChosen((old) => toggleRange(old, id, from < 0 ? [] : between(ids, from, ids.indexOf(id))))
  }, [])
  const clear = useCallback(() => setChosen(new Set()), [])
  return useMemo(() => ({ chosen, toggle, clear }), [chosen, toggle, clear])
}

function between(ids: string[], a: number, b: number): string[] {
  return ids.slice(Math.min(a, b), Math.max(a, b) + 1)
}

function toggleRange(old: Set<string>, id: string, range: string[]): Set<string> {
  const next = new Set(old)
  if (range.length) for (const id of range) next.add(id)
  else if (!next.delete(id)) next.add(id)
  return next
}
