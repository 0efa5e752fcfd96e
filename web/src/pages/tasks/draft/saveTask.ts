import { api, ok, type Shape } from '../../../api/client'
import type { Script } from '../../../api/queries/automation/script'
import type { Task } from '../../../api/queries/automation/task'
import type { Edits } from './taskDraft'
import type { ScriptDraft } from './useScriptDraft'

const match = (version: number) => ({ 'if-match': String(version) })

/** Saves the edited parts, each only over the version that it was read from. */
export async function saveTask(base: Task, edits: Edits, script: ScriptDraft): Promise<Task> {
  const { timeout, ...rest } = edits
  const isNewFile = script.isDirty && script.isCopy && script.others > 0
  if (script.isDirty && script.file && !isNewFile) await saveScript(script.file, script.text)
  const body: Edits = isNewFile
    ? { ...rest, script: { filename: script.file?.filename, source: script.text } }
    : rest
  let task = base
  if (Object.keys(body).length) task = await patchTask(base.id, base.version, body)
  if (timeout !== undefined) task = await limit(base.id, task.version, timeout)
  return task
}

export function patchTask(id: string, version: number, body: Edits): Promise<Task> {
  const request = { params: { path: { id } }, headers: match(version), body }
  return ok<Task>(api.PATCH('/task/{id}', request as never))
}

function limit(id: string, version: number, timeout: number | null): Promise<Task> {
  const request = { params: { path: { id } }, headers: match(version), body: { timeout } }
  return ok<Task>(api.PUT('/api/task/{id}/timeout', request as never))
}

export function saveScript(file: Script, source: string): Promise<Script> {
  const request = {
    params: { path: { id: file.id } },
    headers: match(file.version),
    body: { source },
  }
  return ok<Script>(api.PUT('/file/{id}', request as never))
}

export function createTask(task: Task, script?: Shape<'ScriptBody'>): Promise<Task> {
  const { id, version, acl, triggers, ...body } = task
  const request = { body: script ? { ...body, script } : body }
  return ok<Task>(api.POST('/task', request as never))
}
