import { useText } from './text'
import { type Argument, nameOf } from './values'

export interface FieldProps {
  definition: Argument
  index: number
  value: unknown
  error?: string
  onChange: (value: unknown) => void
}

/** The parts of the definition that every input shows. */
export function useFieldProps({ definition: argument, index, error }: FieldProps) {
  const t = useText()
  const hint = argument.masked ? t.masked : ''
  return {
    label: nameOf(argument, index),
    description: [argument.help, hint].filter(Boolean).join(' ') || undefined,
    withAsterisk: argument.required && argument.type !== 'fixed',
    readOnly: argument.readonly,
    error,
  }
}
