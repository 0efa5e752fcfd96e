import type { Shape } from '../../../api/client'
import type { Task } from '../../../api/queries/automation/task'
import { changedFields as fieldsIn, useHeldVersion } from '../../../ui/editConflict/heldVersion'

export type Edits = Shape<'TaskBody'>

/** The properties of every part of the form. */
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
  /** The newer version of someone else. */
  theirs: Task | null
  set: (change: Edits) => void
  /** Continue from another version, with or without the edits. */
  rebase: (base: Task, keep: boolean) => void
}

/** A definition being edited. As long as nothing is edited it follows the server's. */
export function useDraft(record: Task): Draft {
  const heldVersion = useHeldVersion(record, definitionOf)
  const { base, edits } = heldVersion
  return {
    ...heldVersion,
    task: { ...base, ...edits } as Task,
    edits: edits as Edits,
    set: heldVersion.set as Draft['set'],
  }
}

/** Fields that two versions of a definition differ in. */
export function changedFields(before: object, after: object): string[] {
  return fieldsIn(definitionOf(before), definitionOf(after))
}

/** Fields that change with every save, or repeat another field. */
const IGNORED = new Set(['version', 'last_update', 'schedules', 'multitasking', 'host', 'script'])

export function definitionOf(task: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(task).filter(([name]) => !IGNORED.has(name)))
}
