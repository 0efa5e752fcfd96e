import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Shape } from '../../api/client'
import { byField } from '../../api/errors'
import { useProfile } from '../../app/session'
import { faultsOf, firstValues, toRemember } from '../arguments/values'
import { dropValues, lastValues, storeValues } from './lastValues'
import { type JobValues, newKey, type Runnable, start, type Target, useMayRun } from './target'
import { useText } from './text'

type Job = Shape<'JobRecord'>

export interface Run {
  values: unknown[]
  setValues: (values: unknown[]) => void
  /** The same values as text, while they are entered as JSON. */
  text: string
  setText: (text: string) => void
  isJson: boolean
  setJson: (isJson: boolean) => void
  errors: Record<string, string>
  /** The server's error message, if it belongs to no field. */
  refusal: string
  isBusy: boolean
  whyNot: string
  isRemembered: boolean
  forget: () => void
  start: () => void
}

const asText = (values: unknown[]) => JSON.stringify(values, null, 2)

/** The state of the run dialog. */
export function useRun(
  target: Target,
  runnable: Runnable,
  onStarted: (job: Job) => void,
  from?: JobValues,
): Run {
  const t = useText()
  const { id: person } = useProfile()
  const definitions = runnable.arguments ?? []
  const before = from?.values ?? lastValues(person, target)
  const [values, keep] = useState(() => firstValues(definitions, before))
  const [text, setText] = useState(() => asText(values))
  const [isJson, setJsonMode] = useState(runnable.arguments === null)
  const [isRemembered, setRemembered] = useState(!from && !!before?.some((value) => value !== ''))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const key = useRef(newKey())
  const whyNot = useWhyNot(runnable)

  const mutation = useMutation({
    mutationFn: (args: unknown[]) => start(target, args, key.current, from),
    onSuccess: (job, args) => {
      if (runnable.arguments) storeValues(person, target, toRemember(definitions, args))
      onStarted(job)
    },
    onError: (fault) => setErrors(byField(fault)),
  })
  const isFieldFault = Object.keys(byField(mutation.error)).length > 0

  const setValues = (next: unknown[]) => {
    keep(next)
    setErrors({})
    // Another order deserves another key; the same one again is the same order.
    key.current = newKey()
    mutation.reset()
  }
  const takeText = (next: string) => {
    setText(next)
    const parsed = arrayIn(next)
    if (parsed) setValues(parsed)
  }
  const setJson = (next: boolean) => {
    if (next) setText(asText(values))
    setJsonMode(next)
  }
  const begin = () => {
    if (whyNot || mutation.isPending) return
    const args = isJson ? arrayIn(text) : values
    if (!args) return setErrors({ task_arguments: t.notArray })
    const faults = isJson ? {} : faultsOf(definitions, args)
    setErrors(faults)
    if (Object.keys(faults).length === 0) mutation.mutate(args)
  }
  const forget = () => {
    dropValues(person, target)
    setRemembered(false)
    const fresh = firstValues(definitions)
    setValues(fresh)
    setText(asText(fresh))
  }

  return {
    values,
    setValues,
    text,
    setText: takeText,
    isJson,
    setJson,
    errors,
    refusal: mutation.error && !isFieldFault ? mutation.error.message : '',
    isBusy: mutation.isPending,
    whyNot,
    isRemembered,
    forget,
    start: begin,
  }
}

function useWhyNot(runnable: Runnable): string {
  const t = useText()
  const mayRun = useMayRun()
  if (!mayRun(runnable.acl)) return t.mayNot
  return runnable.enable ? '' : t.disabled
}

function arrayIn(text: string): unknown[] | null {
  try {
    const parsed = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : null
  } catch {
    return null
  }
}
