import type { Shape } from '../../../api/client'

type Trigger = Shape<'EventRecord'>

/** The name of an event: "Greet somebody, vm: success". */
export function triggerName(trigger: Trigger): string {
  const { name, host } = trigger.emitter
  return `${host ? `${name}, ${host}` : name}: ${trigger.name}`
}

/** The first word of an event's id names its source. */
export function emitterOf(id: string): string {
  return id.split(':')[0] ?? ''
}

/** Choices in groups, without those that are taken and without the task's own events. */
export function choices(
  all: Trigger[],
  attached: string[],
  ownId: string,
  words: Record<string, string>,
): { group: string; items: { value: string; label: string }[] }[] {
  const groups = new Map<string, { value: string; label: string }[]>()
  for (const trigger of all) {
    if (attached.includes(trigger.id) || trigger.emitter_id === ownId) continue
    const group = words[emitterOf(trigger.id)] ?? emitterOf(trigger.id)
    groups.set(group, [
      ...(groups.get(group) ?? []),
      { value: trigger.id, label: triggerName(trigger) },
    ])
  }
  return [...groups].map(([group, items]) => ({ group, items }))
}
