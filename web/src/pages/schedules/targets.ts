import type { Schedule } from '../../api/queries/schedule'
import type { Target } from '../../ui/run/target'
import { keyOf, useTargets } from '../../ui/run/targets'

/** What a schedule starts; undefined when it is gone or not for this reader. */
export function useTargetOf(one: Pick<Schedule, 'task_id' | 'workflow_id'>): Target | undefined {
  const key = one.task_id ? `task ${one.task_id}` : `workflow ${one.workflow_id}`
  return useTargets().find((target) => keyOf(target) === key)
}

export function homeOf(target: Target): string {
  return target.kind === 'task' ? `/tasks/${target.id}` : `/workflows/${target.id}`
}
