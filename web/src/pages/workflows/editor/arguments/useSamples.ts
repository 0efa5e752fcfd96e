import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { taskQuery } from '../../../../api/queries/automation/task'
import { runsQuery, stepsQuery, workflowQuery } from '../../../../api/queries/automation/workflow'
import { type Job, jobQuery } from '../../../../api/queries/job'
import { type Argument, nameOf } from '../../../../ui/arguments/values'
import type { Node } from '../../../../ui/graph/graphDraft'
import type { Sample } from './sources'

/** Steps whose values are read, the nearest first. */
const MOST_STEPS = 12

/** The input and output of these steps in the newest run. */
export function useSamples(workflowId: string, nodes: string[]): ReadonlyMap<string, Sample> {
  const runs = useInfiniteQuery(runsQuery(workflowId))
  const run = runs.data?.pages[0]?.rows[0]?.id
  const steps = useQuery({ ...stepsQuery(workflowId, run ?? ''), enabled: !!run })
  const jobIds = new Map(steps.data?.map((step) => [step.node_id, step.job_id]))
  const sampled = nodes.filter((node) => jobIds.has(node)).slice(0, MOST_STEPS)
  const jobs = useQueries({ queries: sampled.map((node) => jobQuery(jobIds.get(node)!)) })
  return new Map(
    jobs.flatMap((job, n) => (job.data ? [[sampled[n]!, sampleOf(job.data)] as const] : [])),
  )
}

function sampleOf(job: Job): Sample {
  const definitions = (job.task?.task_arguments ?? []) as Argument[]
  const { output } = job
  return {
    output: Array.isArray(output) ? output : [],
    input: (job.task_arguments_values ?? []).map((value, n) => ({
      name: definitions[n] ? nameOf(definitions[n], n) : String(n + 1),
      value,
      isReadable: !definitions[n]?.masked && typeof value !== 'object',
    })),
  }
}

/** The arguments that a node takes: those of its task, or of the first task of its workflow. */
export function useArguments(node: Node): Argument[] | null {
  const inner = useQuery({
    ...workflowQuery(node.workflow_id ?? ''),
    enabled: !!node.workflow_id,
  })
  const taskId = node.task_id || inner.data?.start_task_id || ''
  const task = useQuery({ ...taskQuery(taskId), enabled: !!taskId })
  return (task.data?.task_arguments as Argument[] | undefined) ?? null
}
