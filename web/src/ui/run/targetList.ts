import { useQuery } from '@tanstack/react-query'
import { taskNamesQuery, workflowNamesQuery } from '../../api/queries/names'
import type { Target } from './target'

/** Every task and workflow that this reader sees, to choose from. */
export function useTargets(): Target[] {
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const { data: flows = [] } = useQuery(workflowNamesQuery)
  return [
    ...tasks.map((task) => ({
      kind: 'task' as const,
      id: task.id,
      name: task.detail ? `${task.name}, ${task.detail}` : task.name,
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
