import { useQuery } from '@tanstack/react-query'
import { taskNamesQuery } from '../../api/queries/automation/task'
import { workflowNamesQuery } from '../../api/queries/automation/workflowNames'
import type { Target } from './target'

/** Every task and workflow that this reader sees, to choose from. */
export function useTargets(): Target[] {
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const { data: flows = [] } = useQuery(workflowNamesQuery)
  return [
    ...tasks.map((task) => ({
      kind: 'task' as const,
      id: task.id,
      name: task.hostname ? `${task.name}, ${task.hostname}` : task.name,
    })),
    ...flows.map((workflow) => ({
      kind: 'workflow' as const,
      id: workflow.id,
      name: workflow.name,
    })),
  ]
}

export function keyOf({ kind, id }: Pick<Target, 'kind' | 'id'>): string {
  return `${kind} ${id}`
}
