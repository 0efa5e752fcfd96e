import type { RawSearch } from '../../lib/search'

export interface AuditSearch {
  user?: string
  action?: string
  object_id?: string
  from?: string
  to?: string
}

const NAMES = ['user', 'action', 'object_id', 'from', 'to'] as const

export function validAuditSearch(search: RawSearch): AuditSearch {
  const names = NAMES.filter((name) => search[name])
  return Object.fromEntries(names.map((name) => [name, String(search[name])]))
}
