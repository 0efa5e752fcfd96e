import type { Shape } from '../../../../api/client'
import { valueText } from '../../../../lib/valueText'

export type Source = Shape<'ArgumentSource'>

/** The input and output of a step in an earlier run. */
export interface Sample {
  output: unknown[]
  input: { name: string; value: unknown; isReadable: boolean }[]
}

/** One value that can become an argument. */
export interface Choice {
  source: Source
  node: string
  /** `Output 1 › name` */
  label: string
  /** The value in the earlier run, shortened. */
  example: string
}

export interface Names {
  output: (n: number) => string
  input: (name: string) => string
}

/** Members of one value that are offered; others can be typed. */
const MOST_MEMBERS = 20
const MOST_EXAMPLE = 32

/** The values of earlier steps, in the order of the steps. A step that has not run offers its first output. */
export function choicesOf(
  before: string[],
  samples: ReadonlyMap<string, Sample>,
  names: Names,
): Choice[] {
  return before.flatMap((node) => {
    const sample = samples.get(node)
    return [...outputsOf(node, sample?.output ?? [], names), ...inputsOf(node, sample, names)]
  })
}

function outputsOf(node: string, output: unknown[], names: Names): Choice[] {
  if (output.length === 0)
    return [{ source: { node, index: 0 }, node, label: names.output(1), example: '' }]
  return output.flatMap((value, index) => [
    { source: { node, index }, node, label: names.output(index + 1), example: exampleOf(value) },
    ...membersOf(value).map(([key, member]) => ({
      source: { node, index, keys: [key] },
      node,
      label: `${names.output(index + 1)} › ${key}`,
      example: exampleOf(member),
    })),
  ])
}

function inputsOf(node: string, sample: Sample | undefined, names: Names): Choice[] {
  return (sample?.input ?? []).flatMap(({ name, value, isReadable }, index) =>
    isReadable
      ? [
          {
            source: { node, part: 'input' as const, index },
            node,
            label: names.input(name),
            example: exampleOf(value),
          },
        ]
      : [],
  )
}

function membersOf(value: unknown): [string, unknown][] {
  const parsed = parsedOf(value)
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) return []
  return Object.entries(parsed).slice(0, MOST_MEMBERS)
}

function parsedOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function exampleOf(value: unknown): string {
  const text = valueText(value).replace(/\s+/g, ' ')
  return text.length > MOST_EXAMPLE ? `${text.slice(0, MOST_EXAMPLE - 1)}…` : text
}

/** The same text for the same source, whichever defaults are left out. */
export function keyOf(source: Source): string {
  const { node = '', part = 'output', index = 0, keys = [] } = source
  if (source.template !== undefined) return 'template'
  return node ? JSON.stringify([node, part, index, keys]) : 'fixed'
}

/** The source of a key; fixed: initially an empty value. */
export function sourceOf(key: string): Source {
  if (key === 'fixed') return { value: '' }
  if (key === 'template') return { template: '' }
  const [node, part, index, keys] = JSON.parse(key)
  return {
    node,
    index,
    ...(part === 'output' ? {} : { part }),
    ...(keys.length ? { keys } : {}),
  }
}

/** The default arguments: the output of the step before, by position. */
export function byPosition(count: number, before: string | undefined): Source[] {
  return Array.from({ length: count }, (_, index) =>
    before ? { node: before, index } : { value: '' },
  )
}

/** The list with another source at one position; a short list is filled by position first. */
export function withSource(
  sources: Source[],
  position: number,
  source: Source,
  count: number,
  before: string | undefined,
): Source[] {
  const full = byPosition(count, before).map((proposed, n) => sources[n] ?? proposed)
  return full.map((current, n) => (n === position ? source : current))
}

/** A source as the placeholder of a template. */
export function placeholderOf({ node, part = 'output', index = 0, keys = [] }: Source): string {
  return `{{${node}.${part}[${index}]${keys.map((key) => `.${key}`).join('')}}}`
}

const PLACEHOLDER =
  /\{\{\s*([^{}]+?)\.(output|input)\[(\d{1,3})\]((?:\.[^.[\]{}]+?|\[\d{1,3}\])*)\s*\}\}/g

/** The text of a template with the values of an earlier run, as a preview. */
export function previewOf(template: string, samples: ReadonlyMap<string, Sample>): string {
  return template.replace(PLACEHOLDER, (placeholder, node, part, index, path) => {
    const sample = samples.get(node)
    if (!sample) return placeholder
    const input = sample.input[Number(index)]
    if (part === 'input' && input && !input.isReadable) return placeholder
    const first = part === 'input' ? input?.value : sample.output[Number(index)]
    const keys = [...String(path).matchAll(/[^.[\]]+/g)].map((match) => match[0])
    const value = keys.reduce<unknown>(memberOf, first)
    return value === undefined ? '' : valueText(value)
  })
}

function memberOf(value: unknown, key: string): unknown {
  const parsed = parsedOf(value)
  return parsed !== null && typeof parsed === 'object' && Object.hasOwn(parsed, key)
    ? (parsed as Record<string, unknown>)[key]
    : undefined
}
