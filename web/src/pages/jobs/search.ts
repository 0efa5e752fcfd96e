import type { JobFilter } from '../../api/queries/job'
import type { RawSearch } from '../../lib/search'

const NAMES = ['state', 'task', 'workflow', 'host', 'user', 'origin', 'from', 'to', 'q'] as const

/** The filter in an address; other parameters are dropped. */
export function validFilter(search: RawSearch): JobFilter {
  const filter: JobFilter = {}
  for (const name of NAMES) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') filter[name] = value.slice(0, 200)
    else if (typeof value === 'number') filter[name] = String(value)
  }
  return filter
}

export interface JobSearch {
  /** The attempt whose log is shown; the newest when left out. */
  attempt?: number
  /** Open the form for the input that the job waits for. */
  answer?: boolean
}

export function validJobSearch(search: RawSearch): JobSearch {
  const attempt = Number(search.attempt)
  return {
    ...(Number.isInteger(attempt) && attempt > 0 ? { attempt } : {}),
    ...(search.answer === true ? { answer: true } : {}),
  }
}
