import { KINDS } from '../kinds'
import { type Argument, firstValues, fitsDefinition } from '../values'

/** One valid value per definition, for an example call: the proposed value where it fits. */
export function sampleValues(definitions: Argument[], now = new Date()): unknown[] {
  const proposed = firstValues(definitions)
  return definitions.map((argument, n) => {
    if (argument.type === 'fixed' || fitsDefinition(argument, proposed[n])) return proposed[n]
    return sampleOf(argument, now)
  })
}

function sampleOf(argument: Argument, now: Date): unknown {
  const { sample, isChoice } = KINDS[argument.type]
  const value = sample ? sample(argument, now) : ofLength(argument, 'example')
  return isChoice && argument.multiple ? [value] : value
}

function ofLength({ charsmin, charsmax }: Argument, text: string): string {
  const padded = text.padEnd(charsmin ?? 0, 'x')
  return charsmax == null ? padded : padded.slice(0, charsmax)
}
