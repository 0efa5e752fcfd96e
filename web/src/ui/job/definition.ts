import type { Shape } from '../../api/client'
import { useText } from './text'

type Definition = Pick<Shape<'JobRecord'>, '_type' | 'task_id' | 'workflow_id'>

/** The page of the task or workflow that a job ran, with the word for it; null: it has none. */
export function definitionOf(job: Definition): { page: string; word: string } | null {
  const t = useText.now()
  if (job.task_id) return { page: `/tasks/${job.task_id}`, word: t.task }
  return job._type === 'WorkflowJob' && job.workflow_id
    ? { page: `/workflows/${job.workflow_id}`, word: t.workflow }
    : null
}
