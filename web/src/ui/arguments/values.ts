import type { Shape } from '../../api/client'
import { mayMatch } from './pattern'
import { useText } from './text'

export type Argument = Shape<'Argument'>

/** What the server puts in the place of a hidden value. */
const MASK = '***'
const EMAIL = /^[^\s@<>,;:"\\]{1,64}@[^\s@<>,;:"\\]{1,189}$/

/** The name under which the server speaks of argument n. */
export function fieldOf(n: number): string {
  return `task_arguments[${n}]`
}

export function nameOf(one: Argument, n: number): string {
  return one.label || useText.now().nth(n + 1)
}

/** What a form begins with: what was given last time, else what the definition proposes. One value
 * per definition, fixed ones too: an array of this length fills by index. */
export function firstValues(definitions: Argument[], before: unknown[] = []): unknown[] {
  return definitions.map((one, n) => {
    if (one.type === 'fixed') return one.value
    if (!one.masked && !one.readonly && fits(one, before[n])) return before[n]
    return proposed(one)
  })
}

function fits(one: Argument, value: unknown): boolean {
  return value !== undefined && value !== '' && !faultOf(one, value)
}

function proposed(one: Argument): unknown {
  const value = one.value === MASK ? null : one.value
  if (one.type === 'boolean') return value === true || value === 'true'
  if (one.multiple && (one.type === 'select' || one.type === 'remote-options'))
    return Array.isArray(value)
      ? value.map(String)
      : value == null || value === ''
        ? []
        : [String(value)]
  if (value == null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Values as somebody else gave them, one per definition: a short array leaves out the fixed ones. */
export function placed(definitions: Argument[], given: unknown[]): unknown[] {
  if (given.length === definitions.length) return given
  const left = [...given]
  return definitions.map((one) => (one.type === 'fixed' ? one.value : (left.shift() ?? '')))
}

/** Which values do not fit, by field, in the words of the form. The server looks again. */
export function faultsOf(definitions: Argument[], values: unknown[]): Record<string, string> {
  const found = definitions.map((one, n) => [fieldOf(n), faultOf(one, values[n])])
  return Object.fromEntries(found.filter(([, fault]) => fault))
}

function faultOf(one: Argument, value: unknown): string {
  const t = useText.now()
  if (one.type === 'fixed') return ''
  const isBlank = value == null || value === '' || (Array.isArray(value) && value.length === 0)
  if (isBlank) return one.required ? t.required : ''
  const check = CHECKS[one.type]
  return check ? check(one, value) : ''
}

const CHECKS: Partial<Record<Argument['type'], (one: Argument, value: unknown) => string>> = {
  input: lengthFault,
  textarea: lengthFault,
  regexp: (one, value) =>
    mayMatch(one.pattern, String(value))
      ? lengthFault(one, value)
      : useText.now().notPattern(one.pattern),
  email: (_, value) => (EMAIL.test(String(value)) ? '' : useText.now().notEmail),
  json: (_, value) => (isJson(value) ? '' : useText.now().notJson),
  date: (_, value) => (Number.isNaN(Date.parse(String(value))) ? useText.now().notDate : ''),
  select: (one, value) => {
    const allowed = one.options.map((option) => String(option.id))
    const chosen = Array.isArray(value) ? value : [value]
    return chosen.every((each) => allowed.includes(String(each))) ? '' : useText.now().notOption
  },
}

function lengthFault(one: Argument, value: unknown): string {
  const length = [...String(value)].length
  if (one.charsmin != null && length < one.charsmin) return useText.now().tooShort(one.charsmin)
  if (one.charsmax != null && length > one.charsmax) return useText.now().tooLong(one.charsmax)
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
  return definitions.map((one, n) =>
    one.masked || one.type === 'file' || one.type === 'fixed' ? '' : values[n],
  )
}

/** The values as they may be shown, for example in a command to copy. */
export function toShow(definitions: Argument[], values: unknown[]): unknown[] {
  return values.map((value, n) => {
    const one = definitions[n]
    if (one?.masked && value) return MASK
    if (one?.type === 'file' && typeof value === 'string') return value.replace(/,.*/s, ',…')
    return value
  })
}
