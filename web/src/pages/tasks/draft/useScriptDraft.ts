import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Script,
  type ScriptWithText,
  scriptWithTextQuery,
  usersOfScriptQuery,
} from '../../../api/queries/automation/script'
import { useCan } from '../../../app/session'

export interface ScriptDraft {
  /** The version that the edits started from. */
  file: Script | undefined
  before: string
  text: string
  isText: boolean
  isLoading: boolean
  isDeleted: boolean
  isDirty: boolean
  /** The newer version of someone else. */
  theirs: ScriptWithText | null
  /** How many others use the same file. */
  others: number
  isCopy: boolean
  setCopy: (isCopy: boolean) => void
  setText: (text: string) => void
  drop: () => void
  /** Continue from the newest version, with the edits. */
  rebase: (file: Script, before: string) => void
}

interface ScriptEdit {
  file: Script
  before: string
  text: string
}

/** The script of a task being edited; without edits it follows the server's newest version. */
export function useScriptDraft(scriptId: string | null | undefined, taskId: string): ScriptDraft {
  const mayRead = useCan()('script.read')
  const id = scriptId ?? ''
  const enabled = mayRead && !!id
  const { data: newest, isError } = useQuery({ ...scriptWithTextQuery(id), enabled })
  const [edit, setEdit] = useState<ScriptEdit | null>(null)
  const [isCopy, setCopy] = useState(false)
  // Both may have written the same.
  const isTheirs = edit?.text === newest?.content.text && edit?.file.id === newest?.file.id
  const ownEdit = edit && edit.file.id === id && !isTheirs ? edit : null
  const isOlder = !!ownEdit && !!newest && newest.file.version > ownEdit.file.version
  const differs = isOlder && newest.content.text !== ownEdit.before
  // A newer version of the same text is nothing to ask about.
  const file = ownEdit && !(isOlder && !differs) ? ownEdit.file : newest?.file
  const { data: users = [] } = useQuery({ ...usersOfScriptQuery(id), enabled })
  const before = ownEdit?.before ?? newest?.content.text ?? ''
  return {
    file,
    before,
    text: ownEdit?.text ?? before,
    isText: newest?.content.isText ?? true,
    isLoading: enabled && !isError && !ownEdit && newest === undefined,
    isDeleted: enabled && isError && newest === undefined,
    isDirty: !!ownEdit && ownEdit.text !== ownEdit.before,
    theirs: differs ? newest : null,
    others: users.filter((user) => user.id !== taskId).length,
    isCopy,
    setCopy,
    setText: (text) => file && setEdit(text === before ? null : { file, before, text }),
    drop: () => setEdit(null),
    rebase: (next, nextBefore) =>
      setEdit((now) => now && { file: next, before: nextBefore, text: now.text }),
  }
}
