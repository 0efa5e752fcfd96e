import { ChangedFields } from './ChangedFields'
import { Meanwhile } from './EditConflict'
import type { Held } from './heldVersion'

interface Props<T, V> {
  /** As the audit calls it. */
  object: string
  held: Held<T, V>
  fieldsOf: (record: T) => V
  save: { error: Error | null; reset: () => void }
}

/** The notice of a form of fields, when somebody else has changed them too. */
export function FieldsMeanwhile<T extends { id: string; version: number }, V extends object>({
  object,
  held,
  fieldsOf,
  save,
}: Props<T, V>) {
  const { base, theirs, edits } = held
  if (!theirs) return null
  const settle = (keep: boolean) => {
    held.rebase(theirs, keep)
    save.reset()
  }
  return (
    <Meanwhile
      object={object}
      id={theirs.id}
      version={theirs.version}
      error={save.error}
      onTake={() => settle(false)}
      onKeep={() => settle(true)}
    >
      <ChangedFields before={fieldsOf(base)} after={fieldsOf(theirs)} edits={edits} />
    </Meanwhile>
  )
}
