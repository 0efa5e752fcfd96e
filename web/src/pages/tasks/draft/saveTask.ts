import { api, ok, type Shape } from '../../../api/client'
import type { Script } from '../../../api/queries/automation/script'
import type { Task } from '../../../api/queries/automation/task'
import type { Edits } from './taskDraft'
import type { ScriptDraft } from './useScriptDraft'

const match = (version: number) => ({ 'if-match': String(version) })

/** Saves what was edited, each part only over the version that it was read from. */
export async function save(base: Task, edits: Edits, script: ScriptDraft): Promise<Task> {
  const { timeout, ...rest } = edits
  const isNewFile = script.isDirty && script.isCopy && script.others > 0
  if (script.isDirty && script.file && !isNewFile) await saveScript(script.file, script.text)
  const body: Edits = isNewFile
    ? { ...rest, script: { filename: script.file?.filename, source: script.text } }
    : rest
  let task = base
  if (Object.keys(body).length) task = await patch(base.id, base.version, body)
  if (timeout !== undefined) task = await limit(base.id, task.version, timeout)
  return task
}

export function patch(id: string, version: number, body: Edits): Promise<Task> {
  const asked = { params: { path: { id } }, headers: match(version), body }
  return ok<Task>(api.PATCH('/task/{id}', asked as never))
}

function limit(id: string, version: number, timeout: number | null): Promise<Task> {
  const asked = { params: { path: { id } }, headers: match(version), body: { timeout } }
  return ok<Task>(api.PUT('/api/task/{id}/timeout', asked as never))
}

export function saveScript(file: Script, source: string): Promise<Script> {
  const asked = {
    params: { path: { id: file.id } },
    headers: match(file.version),
    body: { source },
  }
  return ok<Script>(api.PUT('/file/{id}', asked as never))
}

export function create(task: Task, script?: Shape<'ScriptBody'>): Promise<Task> {
  const { id, version, acl, triggers, ...body } = task
  const asked = { body: script ? { ...body, script } : body }
  return ok<Task>(api.POST('/task', asked as never))
}
