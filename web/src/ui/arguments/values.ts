import type { Shape } from '../../api/client'
import { mayMatch } from './pattern'
import { useText } from './text'

export type Argument = Shape<'Argument'>

/** The server's mask of a hidden value. */
const MASK = '***'
const EMAIL = /^[^\s@<>,;:"\\]{1,64}@[^\s@<>,;:"\\]{1,189}$/

/** The name under which the server speaks of argument n. */
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
  if (argument.multiple && (argument.type === 'select' || argument.type === 'remote-options'))
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
  const check = CHECKS[argument.type]
  return check ? check(argument, value) : ''
}

const CHECKS: Partial<Record<Argument['type'], (argument: Argument, value: unknown) => string>> = {
  input: lengthFault,
  textarea: lengthFault,
  regexp: (argument, value) =>
    mayMatch(argument.pattern, String(value))
      ? lengthFault(argument, value)
      : useText.now().notPattern(argument.pattern),
  email: (_, value) => (EMAIL.test(String(value)) ? '' : useText.now().notEmail),
  json: (_, value) => (isJson(value) ? '' : useText.now().notJson),
  date: (_, value) => (Number.isNaN(Date.parse(String(value))) ? useText.now().notDate : ''),
  select: (argument, value) => {
    const allowed = argument.options.map((option) => String(option.id))
    const chosen = Array.isArray(value) ? value : [value]
    return chosen.every((each) => allowed.includes(String(each))) ? '' : useText.now().notOption
  },
}

function lengthFault(argument: Argument, value: unknown): string {
  const length = [...String(value)].length
  if (argument.charsmin != null && length < argument.charsmin)
    return useText.now().tooShort(argument.charsmin)
  if (argument.charsmax != null && length > argument.charsmax)
    return useText.now().tooLong(argument.charsmax)
  return ''
}

function isJson(value: unknown): boolean {
  if (typeof value !== 'string') return true
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
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
