import type { Target } from './target'

const KEY = 'belvedere-last-arguments'
const MOST_TARGETS = 100
const MOST_LENGTH = 8_000

type StoredValues = Record<string, unknown[]>

/** The values of this person's last run in this browser. Hidden values and files are never stored: see
 * toRemember. */
export function lastValues(person: string, target: Target): unknown[] | undefined {
  return read()[nameOf(person, target)]
}

export function storeValues(person: string, target: Target, values: unknown[]): void {
  const name = nameOf(person, target)
  const { [name]: _, ...others } = read()
  const newest = Object.entries(others).slice(-(MOST_TARGETS - 1))
  const isShort = JSON.stringify(values).length <= MOST_LENGTH
  write(Object.fromEntries(isShort ? [...newest, [name, values]] : newest))
}

export function dropValues(person: string, target: Target): void {
  const { [nameOf(person, target)]: _, ...others } = read()
  write(others)
}

function nameOf(person: string, { kind, id }: Target): string {
  return `${person} ${kind} ${id}`
}

function read(): StoredValues {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}')
  } catch {
    return {}
  }
}

function write(values: StoredValues): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(values))
  } catch {
    // Without storage, the values are lost on reload.
  }
}
