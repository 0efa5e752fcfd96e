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
      setPast((it) => {
        const last = it.before[it.before.length - 1]
        return last === undefined
          ? it
          : { before: it.before.slice(0, -1), now: last, after: [it.now, ...it.after] }
      }),
    redo: () =>
      setPast((it) => {
        const next = it.after[0]
        return next === undefined
          ? it
          : { before: [...it.before, it.now], now: next, after: it.after.slice(1) }
      }),
    canUndo: past.before.length > 0,
    canRedo: past.after.length > 0,
    reset: (value: T) => setPast({ before: [], now: value, after: [] }),
  }
}
