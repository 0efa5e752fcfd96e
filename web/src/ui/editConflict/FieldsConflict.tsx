import { ChangedFields } from './ChangedFields'
import { EditConflict } from './EditConflict'
import type { HeldVersion } from './heldVersion'

interface Props<T, V> {
  /** As the audit calls it. */
  object: string
  heldVersion: HeldVersion<T, V>
  fieldsOf: (record: T) => V
  save: { error: Error | null; reset: () => void }
}

/** The notice of a form when someone else changed the same fields. */
export function FieldsConflict<T extends { id: string; version: number }, V extends object>({
  object,
  heldVersion,
  fieldsOf,
  save,
}: Props<T, V>) {
  const { base, theirs, edits } = heldVersion
  if (!theirs) return null
  const settle = (keep: boolean) => {
    heldVersion.rebase(theirs, keep)
    save.reset()
  }
  return (
    <EditConflict
      object={object}
      id={theirs.id}
      version={theirs.version}
      error={save.error}
      onTake={() => settle(false)}
      onKeep={() => settle(true)}
    >
      <ChangedFields before={fieldsOf(base)} after={fieldsOf(theirs)} edits={edits} />
    </EditConflict>
  )
}
