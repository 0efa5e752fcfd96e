import type { JobFilter } from '../../../api/queries/job'

const MORE = ['task', 'workflow', 'host', 'user', 'origin', 'from', 'to'] as const

export function activeMoreFilters(filter: JobFilter): number {
  return MORE.filter((name) => filter[name]).length
}
