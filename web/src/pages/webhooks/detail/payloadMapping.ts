import type { Argument } from '../../../ui/arguments/values'

/** The elements of a payload: those of an array, or the one value. Null: no JSON. */
export function payloadElements(text: string): { elements: unknown[]; isArray: boolean } | null {
  if (!text.trim()) return { elements: [], isArray: true }
  try {
    const parsed: unknown = JSON.parse(text)
    const isArray = Array.isArray(parsed)
    return { elements: isArray ? parsed : [parsed], isArray }
  } catch {
    return null
  }
}

export type ArgumentSource =
  | { kind: 'given'; element: number; text: string }
  | { kind: 'fixed'; text: string }
  | { kind: 'missing' }
  | { kind: 'blank' }

/** Element n is argument n, counted over all definitions; extra elements are ignored. */
export function mapPayload(definitions: Argument[], elements: unknown[]): ArgumentSource[] {
  return definitions.map((argument, n): ArgumentSource => {
    if (argument.type === 'fixed') return { kind: 'fixed', text: asText(argument.value) }
    if (n < elements.length) {
      const text = argument.masked ? '***' : asText(elements[n])
      return { kind: 'given', element: n, text }
    }
    return { kind: argument.required === false ? 'blank' : 'missing' }
  })
}

/** As the script gets it: strings as they are, everything else as compact JSON. */
function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
