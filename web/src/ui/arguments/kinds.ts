import type { Shape } from '../../api/client'
import { catalogue } from '../../lib/i18n'
import { mayMatch } from './pattern'
import { samplePattern } from './samples/samplePattern'

export type Argument = Shape<'Argument'>
export type ArgumentKind = Argument['type']

/** Everything that the console knows about an argument type. */
export interface KindRow {
  /** Its name in English and in Spanish. */
  names: readonly [english: string, spanish: string]
  /** Its input in forms, by its name in ArgumentField.tsx. */
  input: 'line' | 'area' | 'json' | 'switch' | 'choice' | 'remote' | 'date' | 'file' | 'fixed'
  /** The type of the input in the sample HTML form, and of a line in other forms; `text` if missing. */
  htmlType?: 'email' | 'date' | 'file'
  /** The options of a select element in the sample HTML form. */
  htmlOptions?: (argument: Argument) => string[]
  /** A masked value is entered in a password field. If this and isMultiline are missing, it is visible. */
  isMaskable?: true
  /** Values have several lines, also while they are masked. */
  isMultiline?: true
  /** The definition can limit the length. */
  hasLength?: true
  /** The definition can allow several choices. */
  isChoice?: true
  /** What is wrong with a value that is not empty. If it is missing, only the server checks values. */
  check?: (argument: Argument, value: unknown) => string
  /** A valid value for example calls; a text if missing. */
  sample?: (argument: Argument, now: Date) => unknown
}

const useFaultText = catalogue(
  {
    notJson: 'Not JSON.',
    notEmail: 'Not an e-mail address.',
    notPattern: (pattern: string) => `Must match ${pattern}`,
    notDate: 'Enter a date.',
    notOption: 'Not one of the choices.',
  },
  {
    notJson: 'No es JSON.',
    notEmail: 'No es una dirección de correo.',
    notPattern: (pattern: string) => `Debe coincidir con ${pattern}`,
    notDate: 'Introduce una fecha.',
    notOption: 'No es una de las opciones.',
  },
)

const EMAIL = /^[^\s@<>,;:"\\]{1,64}@[^\s@<>,;:"\\]{1,189}$/
const FILE = 'data:text/plain;name=example.txt;base64,ZXhhbXBsZQ=='

/** One row per argument type, in the order of the list from which people choose. */
export const KINDS: Record<ArgumentKind, KindRow> = {
  input: { names: ['Text', 'Texto'], input: 'line', isMaskable: true, hasLength: true },
  textarea: {
    names: ['Long text', 'Texto largo'],
    input: 'area',
    isMultiline: true,
    hasLength: true,
  },
  select: {
    names: ['Choice', 'Opción'],
    input: 'choice',
    htmlOptions: optionIds,
    isChoice: true,
    check: optionFault,
    sample: (argument) => argument.options[0]?.id ?? '',
  },
  boolean: {
    names: ['Yes or no', 'Sí o no'],
    input: 'switch',
    htmlOptions: () => ['false', 'true'],
    sample: () => false,
  },
  date: {
    names: ['Date', 'Fecha'],
    input: 'date',
    htmlType: 'date',
    check: (_, value) =>
      Number.isNaN(Date.parse(String(value))) ? useFaultText.now().notDate : '',
    sample: (_, now) => now.toISOString().slice(0, 10),
  },
  email: {
    names: ['E-mail', 'Correo'],
    input: 'line',
    htmlType: 'email',
    isMaskable: true,
    check: (_, value) => (EMAIL.test(String(value)) ? '' : useFaultText.now().notEmail),
    sample: () => 'ada@example.com',
  },
  regexp: {
    names: ['Pattern', 'Patrón'],
    input: 'line',
    isMaskable: true,
    hasLength: true,
    check: patternFault,
    sample: matchingText,
  },
  json: {
    names: ['JSON', 'JSON'],
    input: 'json',
    isMultiline: true,
    check: (_, value) => (isJson(value) ? '' : useFaultText.now().notJson),
    sample: () => ({}),
  },
  file: { names: ['File', 'Archivo'], input: 'file', htmlType: 'file', sample: () => FILE },
  fixed: { names: ['Fixed', 'Fijo'], input: 'fixed' },
  'remote-options': {
    names: ['Remote choices', 'Opciones remotas'],
    input: 'remote',
    isMaskable: true,
    isChoice: true,
    sample: () => 'example',
  },
}

export const useKindNames = catalogue(namesIn(0), namesIn(1))

function namesIn(language: 0 | 1): Record<ArgumentKind, string> {
  const names = Object.entries(KINDS).map(([kind, row]) => [kind, row.names[language]])
  return Object.fromEntries(names)
}

function optionIds(argument: Argument): string[] {
  return argument.options.map((option) => String(option.id))
}

function optionFault(argument: Argument, value: unknown): string {
  const allowed = optionIds(argument)
  const chosen = Array.isArray(value) ? value : [value]
  const isAllowed = chosen.every((each) => allowed.includes(String(each)))
  return isAllowed ? '' : useFaultText.now().notOption
}

function patternFault({ pattern }: Argument, value: unknown): string {
  return mayMatch(pattern, String(value)) ? '' : useFaultText.now().notPattern(pattern)
}

function matchingText({ pattern }: Argument): string {
  const text = samplePattern(pattern)
  return text !== null && mayMatch(pattern, text) ? text : ''
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
