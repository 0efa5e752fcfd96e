import type { Schedule } from '../../api/queries/automation/schedule'
import type { Target } from '../../ui/run/target'
import { keyOf, useTargets } from '../../ui/run/targetList'

type Starts = Pick<Schedule, 'task_id' | 'workflow_id'>

function keyFor({ task_id, workflow_id }: Starts): string {
  return task_id ? `task ${task_id}` : `workflow ${workflow_id}`
}

/** The target of a schedule; undefined if it was deleted or is not visible. */
export function useTargetOf(schedule: Starts): Target | undefined {
  return useTargets().find((target) => keyOf(target) === keyFor(schedule))
}

/** The same for many schedules: the name of the target. */
export function useTargetNames(): (schedule: Starts) => string | undefined {
  const names = new Map(useTargets().map((target) => [keyOf(target), target.name]))
  return (schedule) => names.get(keyFor(schedule))
}

export function homeOf(target: Target): string {
  return target.kind === 'task' ? `/tasks/${target.id}` : `/workflows/${target.id}`
}
