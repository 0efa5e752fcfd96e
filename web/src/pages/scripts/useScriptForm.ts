import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  type Script,
  type ScriptWithText,
  scriptWithTextQuery,
} from '../../api/queries/automation/script'
import { reportSaveError } from '../../ui/editConflict/EditConflict'
import { type HeldVersion, useHeldVersion } from '../../ui/editConflict/heldVersion'
import { useWords } from '../../ui/text'
import { showSuccess } from '../../ui/toast'
import { type Change, changeFile } from './files'
import { useText } from './text'

/** A version of the script and its text, as one record. */
export type ScriptContent = Script & { text: string }

type Details = Pick<Script, 'filename' | 'description'>

export const detailsOf = ({ filename, description }: Script): Details => ({ filename, description })

export interface ScriptForm {
  text: HeldVersion<ScriptContent, { text: string }>
  details: HeldVersion<Script, Details>
  isDirty: boolean
  isBusy: boolean
  error: Error | null
  save: () => void
  reset: () => void
}

/**
 * A script being edited: its text, and its name and description. Someone else may change one of
 * both, so each is compared for itself; one button saves both.
 */
export function useScriptForm({ file, content }: ScriptWithText): ScriptForm {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const text = useHeldVersion({ ...file, text: content.text }, ({ text }) => ({ text }))
  const details = useHeldVersion(file, detailsOf)
  const save = useMutation({
    mutationFn: (change: Change) => changeFile(baseOf(text, details), change),
    onSuccess: (saved, { source }) => {
      const next = source ?? content.text
      client.setQueryData(scriptWithTextQuery(file.id).queryKey, {
        file: saved,
        content: { ...content, text: next },
      })
      text.rebase({ ...saved, text: next }, true)
      details.rebase(saved, true)
      void client.invalidateQueries({ queryKey: ['file'] })
      showSuccess(source === undefined ? w.saved : t.saved)
    },
    onError: (fault) =>
      reportSaveError(fault, () => void client.invalidateQueries({ queryKey: ['file', file.id] })),
  })
  const isDirty = text.isDirty || details.isDirty
  return {
    text,
    details,
    isDirty,
    isBusy: save.isPending,
    error: save.error,
    save: () => isDirty && !save.isPending && save.mutate(changeOf(text, details)),
    reset: save.reset,
  }
}

function changeOf(text: ScriptForm['text'], details: ScriptForm['details']): Change {
  return { ...details.edits, ...(text.isDirty ? { source: text.values.text } : {}) }
}

/** The oldest version that edits began with: a save over a newer one is refused. */
function baseOf(text: ScriptForm['text'], details: ScriptForm['details']): Script {
  const bases = [text, details].filter(({ isDirty }) => isDirty).map(({ base }) => base)
  return bases.reduce((oldest, base) => (base.version < oldest.version ? base : oldest))
}
