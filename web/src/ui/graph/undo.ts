import { useState } from 'react'

interface Past<T> {
  before: T[]
  now: T
  after: T[]
}

const DEPTH = 100

/** A value whose changes can be taken back and made again. */
export function useUndo<T>(first: T) {
  const [past, setPast] = useState<Past<T>>({ before: [], now: first, after: [] })
  return {
    now: past.now,
    set: (next: T) =>
      setPast(({ before, now }) => ({
        before: [...before, now].slice(-DEPTH),
        now: next,
        after: [],
      })),
    undo: () =>
      setPast((entries) => {
        const last = entries.before[entries.before.length - 1]
        return last === undefined
          ? entries
          : {
              before: entries.before.slice(0, -1),
              now: last,
              after: [entries.now, ...entries.after],
            }
      }),
    redo: () =>
      setPast((entries) => {
        const next = entries.after[0]
        return next === undefined
          ? entries
          : { before: [...entries.before, entries.now], now: next, after: entries.after.slice(1) }
      }),
    canUndo: past.before.length > 0,
    canRedo: past.after.length > 0,
    reset: (value: T) => setPast({ before: [], now: value, after: [] }),
  }
}
