import type { Notice } from '../../api/queries/inbox'

type Grouped = Pick<Notice, 'id' | 'object' | 'group_id'>

/** Alerts grouped by their object (for jobs, their task), the group with the newest alert first. */
export function groupNotices<T extends Grouped>(notices: T[]): T[][] {
  const groups = new Map<string, T[]>()
  for (const notice of notices) {
    // An alert about no object is alone.
    const key = notice.group_id ? `${notice.object} ${notice.group_id}` : notice.id
    const group = groups.get(key)
    if (group) group.push(notice)
    else groups.set(key, [notice])
  }
  return [...groups.values()]
}
