import type { Part } from '../../api/queries/monitoring/statusPage'

export type Kind = 'monitor' | 'indicator' | 'tag'

/** A part while it is edited: it shows a monitor, an indicator or a tag. */
export interface PartDraft {
  key: number
  name: string
  group: string
  kind: Kind
  value: string
}

let keys = 0

export function newPart(): PartDraft {
  return { key: keys++, name: '', group: '', kind: 'monitor', value: '' }
}

export function draftOf(part: Part): PartDraft {
  const { name, group } = part
  const base = { key: keys++, name, group: group ?? '' }
  if (part.indicator_id) return { ...base, kind: 'indicator', value: part.indicator_id }
  if (part.tag) return { ...base, kind: 'tag', value: part.tag }
  return { ...base, kind: 'monitor', value: part.monitor_id ?? '' }
}

export function partOf({ name, group, kind, value }: PartDraft): Record<string, string> {
  return { name, group, [kind === 'tag' ? 'tag' : `${kind}_id`]: value }
}
