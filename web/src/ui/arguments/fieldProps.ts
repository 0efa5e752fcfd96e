import { useText } from './text'
import { type Argument, nameOf } from './values'

export interface FieldProps {
  definition: Argument
  index: number
  value: unknown
  error?: string
  onChange: (value: unknown) => void
}

/** What every input shows of its definition. */
export function useCommon({ definition: one, index, error }: FieldProps) {
  const t = useText()
  const hint = one.masked ? t.masked : ''
  return {
    label: nameOf(one, index),
    description: [one.help, hint].filter(Boolean).join(' ') || undefined,
    withAsterisk: one.required && one.type !== 'fixed',
    readOnly: one.readonly,
    error,
  }
}
