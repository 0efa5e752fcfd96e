import { address, api, ok } from '../../api/client'
import { apiErrorOf } from '../../api/errors'
import type { Script } from '../../api/queries/automation/script'

const match = (version: number) => ({ 'if-match': String(version) })

export interface Change {
  source?: string
  filename?: string
  description?: string
}

export function changeFile(file: Script, body: Change): Promise<Script> {
  const request = { params: { path: { id: file.id } }, headers: match(file.version), body }
  return ok<Script>(api.PUT('/file/{id}', request as never))
}

export function createScript(body: Change): Promise<Script> {
  return ok<Script>(api.POST('/file', { body: { ...body, _type: 'Script' } } as never))
}

/** A file as it is, byte by byte: a new one, or a new version of one. */
export async function uploadFile(file: File, over?: Script): Promise<Script> {
  const form = new FormData()
  form.set('file', file, file.name)
  const path = over ? `/file/${over.id}/upload` : '/file'
  const answer = await fetch(address(path), {
    method: over ? 'PUT' : 'POST',
    body: form,
    headers: over ? match(over.version) : undefined,
  })
  const body = await answer.json().catch(() => null)
  if (!answer.ok) throw apiErrorOf(answer, body)
  return body as Script
}

/** An older version as the newest one, byte by byte. */
export async function restoreVersion(file: Script, version: number): Promise<Script> {
  const answer = await fetch(address(`/file/${file.id}/download`, { version }))
  if (!answer.ok) throw apiErrorOf(answer, await answer.json().catch(() => null))
  return uploadFile(new File([await answer.blob()], file.filename), file)
}

export function deleteFile(id: string): Promise<unknown> {
  return ok(api.DELETE('/file/{id}', { params: { path: { id } } }))
}
