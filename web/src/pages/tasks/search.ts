import type { TaskFilter } from '../../api/queries/automation/task'
import { type RawSearch, textParam } from '../../lib/search'

export interface TasksSearch extends TaskFilter {
  /** Only tasks whose last run has this result. */
  last?: 'ok' | 'fail' | 'run' | 'never'
}

const LAST_RESULTS = ['ok', 'fail', 'run', 'never'] as const

export function validTasksSearch(search: RawSearch): TasksSearch {
  return {
    q: search.q === undefined ? undefined : String(search.q),
    tag: textParam(search.tag),
    host: textParam(search.host),
    type: textParam(search.type),
    last: LAST_RESULTS.find((result) => result === search.last),
  }
}

interface NewTaskSearch {
  template?: string
  script?: string
  host?: string
}

export function validNewTaskSearch(search: RawSearch): NewTaskSearch {
  return {
    template: textParam(search.template),
    script: textParam(search.script),
    host: textParam(search.host),
  }
}

interface TaskSearch {
  /** Opens the run dialog. */
  run?: boolean
  /** The job whose output is shown below the definition. */
  job?: string
}

export function validTaskSearch(search: RawSearch): TaskSearch {
  const job = textParam(search.job)
  return {
    ...(search.run === true || search.run === 'true' ? { run: true } : {}),
    ...(job ? { job } : {}),
  }
}
