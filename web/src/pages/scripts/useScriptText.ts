import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/errors'
import { contentQuery, type Script, scriptQuery } from '../../api/queries/script'
import { done, failed } from '../../ui/toast'
import { changeFile } from './files'
import { useText } from './text'

interface Held {
  /** The version that the edit began with, and its text. */
  file: Script
  before: string
  value: string
}

export interface ScriptText {
  value: string
  before: string
  set: (value: string) => void
  isDirty: boolean
  isBusy: boolean
  save: () => void
  /** What somebody else saved meanwhile. */
  theirs: { file: Script; text: string } | null
  keepMine: () => void
  takeTheirs: () => void
}

/** The content of a script being edited; saved only over the version that it was read from. */
export function useScriptText(file: Script, stored = ''): ScriptText {
  const t = useText()
  const client = useQueryClient()
  const [held, setHeld] = useState<Held | null>(null)
  const [theirs, setTheirs] = useState<ScriptText['theirs']>(null)
  const look = async () => {
    const newest = await client.fetchQuery({ ...scriptQuery(file.id), staleTime: 0 })
    const content = await client.ensureQueryData(contentQuery(newest.id, newest.version))
    setTheirs({ file: newest, text: content.text })
  }
  const mutation = useMutation({
    mutationFn: (edit: Held) => changeFile(edit.file, { source: edit.value }),
    onSuccess: (saved) => {
      client.setQueryData(scriptQuery(file.id).queryKey, saved)
      setHeld(null)
      void client.invalidateQueries({ queryKey: ['file'] })
      done(t.saved)
    },
    onError: (fault) =>
      fault instanceof ApiError && fault.status === 412 ? void look().catch(failed) : failed(fault),
  })
  const isDirty = !!held && held.value !== held.before
  return {
    value: held?.value ?? stored,
    before: held?.before ?? stored,
    set: (value) =>
      setHeld((now) =>
        now ? { ...now, value } : value === stored ? null : { file, before: stored, value },
      ),
    isDirty,
    isBusy: mutation.isPending,
    save: () => isDirty && !mutation.isPending && mutation.mutate(held),
    theirs,
    keepMine: () => {
      if (theirs && held) setHeld({ ...held, file: theirs.file, before: theirs.text })
      setTheirs(null)
    },
    takeTheirs: () => {
      setHeld(null)
      setTheirs(null)
    },
  }
}
