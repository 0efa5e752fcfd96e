import type { Shape } from '../../../api/client'

type Starter = Shape<'EventRecord'>

/** What an event is called: "Greet somebody, vm: success". */
export function starterName(one: Starter): string {
  const { name, host } = one.emitter
  return `${host ? `${name}, ${host}` : name}: ${one.name}`
}

/** The first word of an event's id says what sends it. */
export function emitterOf(id: string): string {
  return id.split(':')[0] ?? ''
}

/** Choices in groups, without those that are taken and without the task's own events. */
export function choices(
  all: Starter[],
  taken: string[],
  ownId: string,
  words: Record<string, string>,
): { group: string; items: { value: string; label: string }[] }[] {
  const groups = new Map<string, { value: string; label: string }[]>()
  for (const one of all) {
    if (taken.includes(one.id) || one.emitter_id === ownId) continue
    const group = words[emitterOf(one.id)] ?? emitterOf(one.id)
    groups.set(group, [...(groups.get(group) ?? []), { value: one.id, label: starterName(one) }])
  }
  return [...groups].map(([group, items]) => ({ group, items }))
}
