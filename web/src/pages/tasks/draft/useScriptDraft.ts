import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Script,
  usersOfScriptQuery,
  type WholeScript,
  wholeScriptQuery,
} from '../../../api/queries/automation/script'
import { useCan } from '../../../app/session'

export interface ScriptDraft {
  /** The version that the edits started from. */
  file: Script | undefined
  before: string
  text: string
  isText: boolean
  isLoading: boolean
  isGone: boolean
  isDirty: boolean
  /** What somebody else saved meanwhile. */
  theirs: WholeScript | null
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
  const { data: newest, isError } = useQuery({ ...wholeScriptQuery(id), enabled })
  const [held, setHeld] = useState<Held | null>(null)
  const [isCopy, setCopy] = useState(false)
  // Both may have written the same.
  const isTheirs = held?.text === newest?.content.text && held?.file.id === newest?.file.id
  const mine = held && held.file.id === id && !isTheirs ? held : null
  const isOlder = !!mine && !!newest && newest.file.version > mine.file.version
  const differs = isOlder && newest.content.text !== mine.before
  // A newer version of the same text is nothing to ask about.
  const file = mine && !(isOlder && !differs) ? mine.file : newest?.file
  const { data: users = [] } = useQuery({ ...usersOfScriptQuery(id), enabled })
  const before = mine?.before ?? newest?.content.text ?? ''
  return {
    file,
    before,
    text: mine?.text ?? before,
    isText: newest?.content.isText ?? true,
    isLoading: enabled && !isError && !mine && newest === undefined,
    isGone: enabled && isError && newest === undefined,
    isDirty: !!mine && mine.text !== mine.before,
    theirs: differs ? newest : null,
    others: users.filter((one) => one.id !== taskId).length,
    isCopy,
    setCopy,
    setText: (text) => file && setHeld(text === before ? null : { file, before, text }),
    drop: () => setHeld(null),
    rebase: (next, nextBefore) =>
      setHeld((now) => now && { file: next, before: nextBefore, text: now.text }),
  }
}
