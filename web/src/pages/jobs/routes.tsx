import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { JobFilter } from '../../api/queries/job'
import { orgRoute } from '../../app/routes'

const NAMES = ['state', 'task', 'workflow', 'host', 'user', 'origin', 'from', 'to', 'q'] as const

/** What of an address is a filter; anything else is dropped. */
export function validFilter(search: Record<string, unknown>): JobFilter {
  const found: JobFilter = {}
  for (const name of NAMES) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') found[name] = value.slice(0, 200)
    else if (typeof value === 'number') found[name] = String(value)
  }
  return found
}

export const jobsRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/jobs',
  validateSearch: validFilter,
  component: lazyRouteComponent(() => import('./list/JobsPage'), 'JobsPage'),
})

export interface JobSearch {
  /** Whose log is shown; the newest when left out. */
  attempt?: number
  /** Open the form for what the job waits for. */
  answer?: boolean
}

export const jobRoute = createRoute({
  getParentRoute: () => orgRoute,
  path: '/jobs/$id/{-$tab}',
  validateSearch: (search: Record<string, unknown>): JobSearch => {
    const attempt = Number(search.attempt)
    return {
      ...(Number.isInteger(attempt) && attempt > 0 ? { attempt } : {}),
      ...(search.answer === true ? { answer: true } : {}),
    }
  },
  component: lazyRouteComponent(() => import('./detail/JobPage'), 'JobPage'),
})

export const jobRoutes = [jobsRoute, jobRoute] as const
