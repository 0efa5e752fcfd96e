import { useState } from 'react'
import type { Shape } from '../../api/client'
import type { Task } from '../../api/queries/task'

export type Edits = Shape<'TaskBody'>

/** What every part of the form takes. */
export interface FormProps {
  task: Task
  set: (change: Edits) => void
  errors: Record<string, string>
  readOnly: boolean
}

export interface Draft {
  /** The version that the edits started from. */
  base: Task
  /** The definition with the edits in it. */
  task: Task
  edits: Edits
  isDirty: boolean
  set: (change: Edits) => void
  /** Go on from another version: with the edits, or without. */
  rebase: (base: Task, keep: boolean) => void
}

/** A definition being edited. As long as nothing is edited it follows the server's. */
export function useDraft(record: Task): Draft {
  const [held, setHeld] = useState({ base: record, edits: {} as Edits })
  const isDirty = Object.keys(held.edits).length > 0
  const base = isDirty ? held.base : record
  return {
    base,
    task: { ...base, ...held.edits } as Task,
    edits: held.edits,
    isDirty,
    set: (change) => setHeld((now) => merged(isDirty ? now.base : record, now.edits, change)),
    rebase: (next, keep) => setHeld((now) => ({ base: next, edits: keep ? now.edits : {} })),
  }
}

/** The edits with one more; one that leads back to what was there is none. */
export function merged(base: Task, edits: Edits, change: Edits): { base: Task; edits: Edits } {
  const all = { ...edits, ...change } as Record<string, unknown>
  const before = base as unknown as Record<string, unknown>
  const real = Object.entries(all).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  )
  return { base, edits: Object.fromEntries(real) as Edits }
}

/** Fields that two versions of a definition differ in. */
export function changedFields(before: object, after: object): string[] {
  const a = before as Record<string, unknown>
  const b = after as Record<string, unknown>
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (name) => !IGNORED.has(name) && JSON.stringify(a[name]) !== JSON.stringify(b[name]),
  )
}

/** What changes with every save, or says the same as another field. */
const IGNORED = new Set(['version', 'last_update', 'schedules', 'multitasking', 'host', 'script'])
