import { useMutation, useQueryClient } from '@tanstack/react-query'
import { byField } from '../../../api/errors'
import { type Task, taskQuery } from '../../../api/queries/automation/task'
import { reportSaveError } from '../../../ui/editConflict/EditConflict'
import { type OwnChannels, useOwnChannels } from '../../../ui/notify/ownRule'
import { showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { saveTask } from './saveTask'
import { type Draft, useDraft } from './taskDraft'
import { type ScriptDraft, useScriptDraft } from './useScriptDraft'

export interface TaskForm {
  draft: Draft
  script: ScriptDraft
  own: OwnChannels
  errors: Record<string, string>
  error: Error | null
  isDirty: boolean
  isBusy: boolean
  save: () => void
  /** Someone else changed it too: continue from their version, with the edits or without. */
  settle: (keep: boolean) => void
}

/** Everything that the form of an existing task holds. */
export function useTaskForm(record: Task): TaskForm {
  const t = useText()
  const client = useQueryClient()
  const draft = useDraft(record)
  const script = useScriptDraft(draft.task.script_id, record.id)
  const own = useOwnChannels(record.id)
  const isDirty = draft.isDirty || script.isDirty || own.isDirty

  const again = () => {
    void client.invalidateQueries({ queryKey: taskQuery(record.id).queryKey })
    void client.invalidateQueries({ queryKey: ['file'] })
  }
  const mutation = useMutation({
    mutationFn: async () => {
      const task = await saveTask(draft.base, draft.edits, script)
      await own.save(task.id, t.ruleName(task.name))
      return task
    },
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
    own,
    errors: byField(mutation.error),
    error: mutation.error,
    isDirty,
    isBusy: mutation.isPending,
    save: () => isDirty && !mutation.isPending && mutation.mutate(),
    settle,
  }
}
