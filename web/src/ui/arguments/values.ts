import { type Argument, KINDS } from './kinds'
import { useText } from './text'

export type { Argument }

/** The server's mask of a hidden value. */
const MASK = '***'

/** The name that the server uses for argument n. */
export function fieldOf(n: number): string {
  return `task_arguments[${n}]`
}

export function nameOf(argument: Argument, n: number): string {
  return argument.label || useText.now().nth(n + 1)
}

/** The initial values of a form: those of the last run, else the defaults of the definition. One value
 * per definition, fixed ones too: an array of this length fills by index. */
export function firstValues(definitions: Argument[], before: unknown[] = []): unknown[] {
  return definitions.map((argument, n) => {
    if (argument.type === 'fixed') return argument.value
    if (!argument.masked && !argument.readonly && fitsDefinition(argument, before[n]))
      return before[n]
    return proposedValue(argument)
  })
}

/** Whether the value is one, and the definition allows it. */
export function fitsDefinition(argument: Argument, value: unknown): boolean {
  const isBlank = value == null || value === '' || (Array.isArray(value) && value.length === 0)
  return !isBlank && !faultOf(argument, value)
}

function proposedValue(argument: Argument): unknown {
  const value = argument.value === MASK ? null : argument.value
  if (argument.type === 'boolean') return value === true || value === 'true'
  if (argument.multiple && KINDS[argument.type].isChoice)
    return Array.isArray(value)
      ? value.map(String)
      : value == null || value === ''
        ? []
        : [String(value)]
  if (value == null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Values from another source, one per definition: a short array leaves out the fixed ones. */
export function alignValues(definitions: Argument[], values: unknown[]): unknown[] {
  if (values.length === definitions.length) return values
  const remaining = [...values]
  return definitions.map((argument) =>
    argument.type === 'fixed' ? argument.value : (remaining.shift() ?? ''),
  )
}

/** Which values do not fit, by field, in the words of the form. The server looks again. */
export function faultsOf(definitions: Argument[], values: unknown[]): Record<string, string> {
  const faults = definitions.map((argument, n) => [fieldOf(n), faultOf(argument, values[n])])
  return Object.fromEntries(faults.filter(([, fault]) => fault))
}

function faultOf(argument: Argument, value: unknown): string {
  const t = useText.now()
  if (argument.type === 'fixed') return ''
  const isBlank = value == null || value === '' || (Array.isArray(value) && value.length === 0)
  if (isBlank) return argument.required ? t.required : ''
  const { check, hasLength } = KINDS[argument.type]
  return check?.(argument, value) || (hasLength ? lengthFault(argument, value) : '')
}

function lengthFault(argument: Argument, value: unknown): string {
  const length = [...String(value)].length
  if (argument.charsmin != null && length < argument.charsmin)
    return useText.now().tooShort(argument.charsmin)
  if (argument.charsmax != null && length > argument.charsmax)
    return useText.now().tooLong(argument.charsmax)
  return ''
}

/** The values as they may be remembered: nothing hidden, no files, nothing fixed. */
export function toRemember(definitions: Argument[], values: unknown[]): unknown[] {
  return definitions.map((argument, n) =>
    argument.masked || argument.type === 'file' || argument.type === 'fixed' ? '' : values[n],
  )
}

/** The values as they may be shown, for example in a command to copy. */
export function toShow(definitions: Argument[], values: unknown[]): unknown[] {
  return values.map((value, n) => {
    const argument = definitions[n]
    if (argument?.masked && value) return MASK
    if (argument?.type === 'file' && typeof value === 'string') return value.replace(/,.*/s, ',…')
    return value
  })
}
