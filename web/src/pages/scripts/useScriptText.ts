import { useMutation, useQueryClient } from '@tanstack/react-query'
import {
  type Script,
  type WholeScript,
  wholeScriptQuery,
} from '../../api/queries/automation/script'
import { tellFailed } from '../../ui/editConflict/EditConflict'
import { type Held, useHeld } from '../../ui/editConflict/heldVersion'
import { done } from '../../ui/toast'
import { changeFile } from './files'
import { useText } from './text'

/** A version of the script and its text, as one record. */
export type Written = Script & { text: string }

export interface ScriptText extends Held<Written, { text: string }> {
  isBusy: boolean
  error: Error | null
  save: () => void
  settle: (keep: boolean) => void
}

/** The content of a script being edited; saved only over the version that it was read from. */
export function useScriptText({ file, content }: WholeScript): ScriptText {
  const t = useText()
  const client = useQueryClient()
  const held = useHeld({ ...file, text: content.text }, ({ text }) => ({ text }))
  const save = useMutation({
    mutationFn: (source: string) => changeFile(held.base, { source }),
    onSuccess: (saved, source) => {
      client.setQueryData(wholeScriptQuery(file.id).queryKey, {
        file: saved,
        content: { text: source, isText: true },
      })
      held.rebase({ ...saved, text: source }, true)
      void client.invalidateQueries({ queryKey: ['file'] })
      done(t.saved)
    },
    onError: (fault) =>
      tellFailed(fault, () => void client.invalidateQueries({ queryKey: ['file', file.id] })),
  })
  return {
    ...held,
    isBusy: save.isPending,
    error: save.error,
    save: () => held.isDirty && !save.isPending && save.mutate(held.values.text),
    settle: (keep) => {
      if (held.theirs) held.rebase(held.theirs, keep)
      save.reset()
    },
  }
}
