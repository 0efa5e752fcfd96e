import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { byField } from '../../api/errors'
import { contentQuery, type Script } from '../../api/queries/script'
import { type Task, taskQuery } from '../../api/queries/task'
import { done, failed } from '../../ui/toast'
import { type Draft, useDraft } from './draft'
import { isStale, newest, save } from './save'
import { useText } from './text'
import { type ScriptDraft, useScript } from './useScript'

/** Somebody was faster: what they left. */
export interface Stale {
  task: Task
  file: Script | null
  source: string
}

export interface TaskForm {
  draft: Draft
  script: ScriptDraft
  errors: Record<string, string>
  isDirty: boolean
  isBusy: boolean
  save: () => void
  stale: Stale | null
  keepMine: () => void
  takeTheirs: () => void
}

/** Everything that the form of an existing task holds. */
export function useTaskForm(record: Task): TaskForm {
  const t = useText()
  const client = useQueryClient()
  const draft = useDraft(record)
  const script = useScript(draft.task.script_id, record.id)
  const [stale, setStale] = useState<Stale | null>(null)
  const isDirty = draft.isDirty || script.isDirty

  const look = async () => {
    const { task, file } = await newest(record.id, draft.base.script_id)
    const content = file && (await client.ensureQueryData(contentQuery(file.id, file.version)))
    setStale({ task, file, source: content?.text ?? '' })
  }
  const mutation = useMutation({
    mutationFn: () => save(draft.base, draft.edits, script),
    onSuccess: (task) => {
      client.setQueryData(taskQuery(record.id).queryKey, task)
      draft.rebase(task, false)
      script.drop()
      void client.invalidateQueries({ queryKey: ['file'] })
      done(t.saved)
    },
    onError: (fault) => (isStale(fault) ? void look().catch(failed) : failed(fault)),
  })
  const settle = (keep: boolean) => {
    if (!stale) return
    draft.rebase(stale.task, keep)
    client.setQueryData(taskQuery(record.id).queryKey, stale.task)
    if (!keep) script.drop()
    else if (stale.file) script.rebase(stale.file, stale.source)
    void client.invalidateQueries({ queryKey: ['file'] })
    setStale(null)
  }
  return {
    draft,
    script,
    errors: byField(mutation.error),
    isDirty,
    isBusy: mutation.isPending,
    save: () => isDirty && !mutation.isPending && mutation.mutate(),
    stale,
    keepMine: () => settle(true),
    takeTheirs: () => settle(false),
  }
}
