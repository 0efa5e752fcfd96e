import type { RawSearch } from '../../lib/search'

export const TABS = ['graph', 'jobs', 'triggers', 'access', 'api', 'history', 'settings'] as const
export type Tab = (typeof TABS)[number]

export interface WorkflowSearch {
  /** A past run, drawn over the graph. */
  job?: string
  run?: boolean
  edit?: boolean
  table?: boolean
}

export function validWorkflowSearch(search: RawSearch): WorkflowSearch {
  return {
    ...(search.job ? { job: String(search.job) } : {}),
    ...(search.run ? { run: true } : {}),
    ...(search.edit ? { edit: true } : {}),
    ...(search.table ? { table: true } : {}),
  }
}
