import { useState } from 'react'

export interface HeldVersion<T, V> {
  /** The version that the edits began with; a save counts against it. */
  base: T
  /** The fields with the edits in them. */
  values: V
  edits: Partial<V>
  isDirty: boolean
  /** The version of someone else with other values in the same fields. */
  theirs: T | null
  set: (change: Partial<V>) => void
  /** Continue from another version, with or without the edits. */
  rebase: (base: T, keep: boolean) => void
}

/**
 * The fields of a record being edited. Without edits they follow the server; with edits nothing
 * that someone else saves replaces them.
 */
export function useHeldVersion<T extends { version: number }, V extends object>(
  record: T,
  valuesOf: (record: T) => V,
): HeldVersion<T, V> {
  const [state, setState] = useState({ base: record, edits: {} as Partial<V> })
  const isOlder = record.version > state.base.version
  // Both may have made the same change.
  const edits = isOlder ? mergeEdits(valuesOf(record), state.edits, {}) : state.edits
  const isDirty = Object.keys(edits).length > 0
  const differs =
    isDirty && isOlder && changedFields(valuesOf(state.base), valuesOf(record)).length > 0
  // A newer version of other fields is nothing to ask about.
  const base = isDirty && (differs || !isOlder) ? state.base : record
  const before = valuesOf(base)
  return {
    base,
    values: { ...before, ...edits },
    edits,
    isDirty,
    theirs: differs ? record : null,
    set: (change) => setState((now) => ({ base, edits: mergeEdits(before, now.edits, change) })),
    rebase: (next, keep) =>
      setState((now) => ({
        base: next,
        edits: keep ? mergeEdits(valuesOf(next), now.edits, {}) : {},
      })),
  }
}

/** The edits with one more; an edit back to the saved value is removed. */
export function mergeEdits<V extends object>(
  before: V,
  edits: Partial<V>,
  change: Partial<V>,
): Partial<V> {
  const all = Object.entries({ ...edits, ...change })
  const real = all.filter(([name, value]) => !isSame(value, before[name as keyof V]))
  return Object.fromEntries(real) as Partial<V>
}

/** Fields that two versions of a record differ in. */
export function changedFields(before: object, after: object): string[] {
  const a = before as Record<string, unknown>
  const b = after as Record<string, unknown>
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (name) => !isSame(a[name], b[name]),
  )
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
