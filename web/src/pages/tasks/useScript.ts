import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  contentQuery,
  type Script,
  scriptQuery,
  usersOfScriptQuery,
} from '../../api/queries/script'
import { useCan } from '../../app/session'

export interface ScriptDraft {
  /** The version that the edits started from. */
  file: Script | undefined
  before: string
  text: string
  isText: boolean
  isLoading: boolean
  isGone: boolean
  isDirty: boolean
  /** How many others use the same file. */
  others: number
  isCopy: boolean
  setCopy: (isCopy: boolean) => void
  setText: (text: string) => void
  drop: () => void
  /** Go on from the newest version, with the edits. */
  rebase: (file: Script, before: string) => void
}

interface Held {
  file: Script
  before: string
  text: string
}

/** The script of a task being edited; without edits it follows the server's newest version. */
export function useScript(scriptId: string | null | undefined, taskId: string): ScriptDraft {
  const mayRead = useCan()('script.read')
  const id = scriptId ?? ''
  const enabled = mayRead && !!id
  const { data: newest, isError } = useQuery({ ...scriptQuery(id), enabled })
  const [held, setHeld] = useState<Held | null>(null)
  const [isCopy, setCopy] = useState(false)
  const mine = held && held.file.id === id ? held : null
  const file = mine?.file ?? newest
  const { data: content } = useQuery({
    ...contentQuery(id, file?.version ?? 0),
    enabled: enabled && !!file,
  })
  const { data: users = [] } = useQuery({ ...usersOfScriptQuery(id), enabled })
  const before = mine?.before ?? content?.text ?? ''
  return {
    file,
    before,
    text: mine?.text ?? before,
    isText: content?.isText ?? true,
    isLoading: enabled && !isError && !mine && content === undefined,
    isGone: enabled && isError,
    isDirty: !!mine && mine.text !== mine.before,
    others: users.filter((one) => one.id !== taskId).length,
    isCopy,
    setCopy,
    setText: (text) => file && setHeld(text === before ? null : { file, before, text }),
    drop: () => setHeld(null),
    rebase: (next, nextBefore) =>
      setHeld((now) => now && { file: next, before: nextBefore, text: now.text }),
  }
}
