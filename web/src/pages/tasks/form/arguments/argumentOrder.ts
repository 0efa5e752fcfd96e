import type { Argument } from '../../../../ui/arguments/values'

export function moveArgument<T>(list: T[], from: number, to: number): T[] {
  const next = [...list]
  const [argument] = next.splice(from, 1)
  next.splice(to, 0, argument!)
  return next
}

/** The server sorts by `order`, so it must agree with the list. */
export function numberArguments(list: Argument[]): Argument[] {
  return list.map((argument, order) => ({ ...argument, order }))
}

/** `value = label` per line, for choices. */
export function optionsText(options: Argument['options']): string {
  return [...options]
    .sort((a, b) => a.order - b.order)
    .map(({ id, label }) => (label && label !== String(id) ? `${id} = ${label}` : String(id)))
    .join('\n')
}

export function optionsIn(text: string): Argument['options'] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line, order) => {
      const at = line.indexOf(' = ')
      const id = at < 0 ? line : line.slice(0, at).trim()
      return { id, label: at < 0 ? line : line.slice(at + 3).trim(), order }
    })
}
