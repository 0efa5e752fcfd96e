import { useMutation, useQueryClient } from '@tanstack/react-query'
import { byField } from '../../../api/errors'
import { type Task, taskQuery } from '../../../api/queries/automation/task'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { saveTask } from './saveTask'
import { type Draft, useDraft } from './taskDraft'
import { type ScriptDraft, useScriptDraft } from './useScriptDraft'

export interface TaskForm {
  draft: Draft
  script: ScriptDraft
  errors: Record<string, string>
  error: Error | null
  isDirty: boolean
  isBusy: boolean
  save: () => void
  /** Somebody else changed it too: go on from theirs, with the own edits or without. */
  settle: (keep: boolean) => void
}

/** Everything that the form of an existing task holds. */
export function useTaskForm(record: Task): TaskForm {
  const t = useText()
  const client = useQueryClient()
  const draft = useDraft(record)
  const script = useScriptDraft(draft.task.script_id, record.id)
  const isDirty = draft.isDirty || script.isDirty

  const again = () => {
    void client.invalidateQueries({ queryKey: taskQuery(record.id).queryKey })
    void client.invalidateQueries({ queryKey: ['file'] })
  }
  const mutation = useMutation({
    mutationFn: () => saveTask(draft.base, draft.edits, script),
    onSuccess: (task) => {
      client.setQueryData(taskQuery(record.id).queryKey, task)
      draft.rebase(task, false)
      script.drop()
      void client.invalidateQueries({ queryKey: ['file'] })
      showSuccess(t.saved)
    },
    onError: (fault) => reportSaveError(fault, again),
  })
  const settle = (keep: boolean) => {
    if (draft.theirs) draft.rebase(draft.theirs, keep)
    if (script.theirs && keep) script.rebase(script.theirs.file, script.theirs.content.text)
    else if (script.theirs) script.drop()
    mutation.reset()
  }
  return {
    draft,
    script,
    errors: byField(mutation.error),
    error: mutation.error,
    isDirty,
    isBusy: mutation.isPending,
    save: () => isDirty && !mutation.isPending && mutation.mutate(),
    settle,
  }
}
