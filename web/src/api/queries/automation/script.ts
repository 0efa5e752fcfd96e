import { queryOptions } from '@tanstack/react-query'
import { address, api, ok, type Shape, untypedQuery } from '../../client'
import { apiErrorOf } from '../../errors'

export type Script = Shape<'FileRecord'>

/** All stored scripts and files; managers only. */
export const scriptsQuery = queryOptions({
  queryKey: ['file', 'list'],
  queryFn: () =>
    ok<Script[]>(api.GET('/file', { params: { query: untypedQuery({ 'sort[filename]': 1 }) } })),
})

export const scriptQuery = (id: string) =>
  queryOptions({
    queryKey: ['file', id],
    queryFn: () => ok<Script>(api.GET('/file/{id}', { params: { path: { id } } })),
  })

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['file', id, 'versions'],
    queryFn: () => ok(api.GET('/file/{id}/versions', { params: { path: { id } } })),
  })

export const usersOfScriptQuery = (id: string) =>
  queryOptions({
    queryKey: ['file', id, 'used'],
    queryFn: () => ok(api.GET('/file/{id}/linkedmodels', { params: { path: { id } } })),
    meta: { after: ['task', 'monitor'] },
  })

export interface Content {
  text: string
  /** False: bytes that are no text, which an editor would destroy. */
  isText: boolean
}

/** The content of a version of a file; the version is part of the key, so it never goes stale. */
export const contentQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['file', id, 'content', version],
    queryFn: ({ signal }) => readContent(id, version, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

export interface ScriptWithText {
  file: Script
  content: Content
}

/**
 * The newest version together with its content: while a newer one is loading, the complete
 * one before it stays, and never the text of one under the number of another.
 */
export const scriptWithTextQuery = (id: string) =>
  queryOptions({
    queryKey: ['file', id, 'whole'],
    queryFn: async ({ client }): Promise<ScriptWithText> => {
      const file = await ok<Script>(api.GET('/file/{id}', { params: { path: { id } } }))
      const content = await client.ensureQueryData(contentQuery(id, file.version))
      return { file, content }
    },
  })

async function readContent(id: string, version: number, signal: AbortSignal): Promise<Content> {
  const answer = await fetch(address(`/file/${id}/download`, { version }), { signal })
  if (!answer.ok) throw apiErrorOf(answer, await answer.json().catch(() => null))
  const bytes = await answer.arrayBuffer()
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isText: true }
  } catch {
    return { text: '', isText: false }
  }
}
