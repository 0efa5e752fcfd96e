import type { RawSearch } from '../../lib/search'

export const TABS = ['graph', 'jobs', 'triggers', 'access', 'api', 'history', 'settings'] as const
export type Tab = (typeof TABS)[number]

export interface WorkflowSearch {
  /** A run, drawn over the graph; the newest if none is named, `none` for the plain graph. */
  job?: string
  /** The step whose log, input and output are shown. */
  step?: string
  run?: boolean
  edit?: boolean
  table?: boolean
}

export function validWorkflowSearch(search: RawSearch): WorkflowSearch {
  return {
    ...(search.job ? { job: String(search.job) } : {}),
    ...(search.step ? { step: String(search.step) } : {}),
    ...(search.run ? { run: true } : {}),
    ...(search.edit ? { edit: true } : {}),
    ...(search.table ? { table: true } : {}),
  }
}

export const NO_RUN = 'none'
