import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  type Script,
  type ScriptWithText,
  scriptWithTextQuery,
} from '../../api/queries/automation/script'
import { reportSaveError } from '../../ui/editConflict/EditConflict'
import { type HeldVersion, useHeldVersion } from '../../ui/editConflict/heldVersion'
import { showSuccess } from '../../ui/toast'
import { changeFile } from './files'
import { useText } from './text'

/** A version of the script and its text, as one record. */
export type ScriptContent = Script & { text: string }

export interface ScriptText extends HeldVersion<ScriptContent, { text: string }> {
  isBusy: boolean
  error: Error | null
  save: () => void
  settle: (keep: boolean) => void
}

/** The content of a script being edited; saved only over the version that it was read from. */
export function useScriptText({ file, content }: ScriptWithText): ScriptText {
  const t = useText()
  const client = useQueryClient()
  const heldVersion = useHeldVersion({ ...file, text: content.text }, ({ text }) => ({ text }))
  const save = useMutation({
    mutationFn: (source: string) => changeFile(heldVersion.base, { source }),
    onSuccess: (saved, source) => {
      client.setQueryData(scriptWithTextQuery(file.id).queryKey, {
        file: saved,
        content: { text: source, isText: true },
      })
      heldVersion.rebase({ ...saved, text: source }, true)
      void client.invalidateQueries({ queryKey: ['file'] })
      showSuccess(t.saved)
    },
    onError: (fault) =>
      reportSaveError(fault, () => void client.invalidateQueries({ queryKey: ['file', file.id] })),
  })
  return {
    ...heldVersion,
    isBusy: save.isPending,
    error: save.error,
    save: () => heldVersion.isDirty && !save.isPending && save.mutate(heldVersion.values.text),
    settle: (keep) => {
      if (heldVersion.theirs) heldVersion.rebase(heldVersion.theirs, keep)
      save.reset()
    },
  }
}
