import { mayMatch } from '../pattern'
import { type Argument, firstValues, fitsDefinition } from '../values'
import { samplePattern } from './samplePattern'

const FILE = 'data:text/plain;name=example.txt;base64,ZXhhbXBsZQ=='

/** One valid value per definition, for an example call: the proposed value where it fits. */
export function sampleValues(definitions: Argument[], now = new Date()): unknown[] {
  const proposed = firstValues(definitions)
  return definitions.map((argument, n) => {
    if (argument.type === 'fixed' || fitsDefinition(argument, proposed[n])) return proposed[n]
    return sampleOf(argument, now)
  })
}

function sampleOf(argument: Argument, now: Date): unknown {
  switch (argument.type) {
    case 'boolean':
      return false
    case 'json':
      return {}
    case 'date':
      return now.toISOString().slice(0, 10)
    case 'email':
      return 'ada@example.com'
    case 'file':
      return FILE
    case 'select':
      return several(argument, argument.options[0]?.id ?? '')
    case 'remote-options':
      return several(argument, 'example')
    case 'regexp':
      return matching(argument)
    default:
      return ofLength(argument, 'example')
  }
}

function several(argument: Argument, value: unknown): unknown {
  return argument.multiple ? [value] : value
}

function ofLength({ charsmin, charsmax }: Argument, text: string): string {
  const padded = text.padEnd(charsmin ?? 0, 'x')
  return charsmax == null ? padded : padded.slice(0, charsmax)
}

function matching(argument: Argument): string {
  const text = samplePattern(argument.pattern)
  return text !== null && mayMatch(argument.pattern, text) ? text : ''
}
