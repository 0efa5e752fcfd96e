import type { Part } from '../../api/queries/monitoring/statusPage'

export type Kind = 'monitor' | 'indicator' | 'tag'

/** A part while it is edited: what it shows is one of three. */
export interface Draft {
  key: number
  name: string
  group: string
  kind: Kind
  what: string
}

let keys = 0

export function fresh(): Draft {
  return { key: keys++, name: '', group: '', kind: 'monitor', what: '' }
}

export function draftOf(part: Part): Draft {
  const { name, group } = part
  const base = { key: keys++, name, group: group ?? '' }
  if (part.indicator_id) return { ...base, kind: 'indicator', what: part.indicator_id }
  if (part.tag) return { ...base, kind: 'tag', what: part.tag }
  return { ...base, kind: 'monitor', what: part.monitor_id ?? '' }
}

export function partOf({ name, group, kind, what }: Draft): Record<string, string> {
  return { name, group, [kind === 'tag' ? 'tag' : `${kind}_id`]: what }
}
