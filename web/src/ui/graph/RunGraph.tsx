import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import {
  stepJobsQuery,
  stepsQuery,
  type Workflow,
  workflowQuery,
} from '../../api/queries/automation/workflow'
import { jobLook, jobStateText } from '../../lib/state'
import { useAppNavigate } from '../AppLink'
import { QueryResult } from '../layout/QueryResult'
import { FlowView, type StepState } from './FlowView'
import type { Draft } from './graphDraft'
import { useText } from './text'

/** How far each node of a run is, from the jobs of its steps. */
export function useSteps(workflow: string, job: string | null) {
  const steps = useQuery({ ...stepsQuery(workflow, job ?? ''), enabled: job !== null })
  const jobs = useQuery({ ...stepJobsQuery(workflow, job ?? ''), enabled: job !== null })
  return useMemo(() => {
    const byId = new Map(jobs.data?.map((job) => [job.id, job]))
    const states = new Map<string, StepState>()
    // The jobs of a node's visits, oldest first; the newest tells how far it is.
    const jobsOf = new Map<string, string[]>()
    for (const step of steps.data ?? []) {
      const job = byId.get(step.job_id)
      jobsOf.set(step.node_id, [...(jobsOf.get(step.node_id) ?? []), step.job_id])
      const visits = step.visit > 1 ? { visits: step.visit } : {}
      if (job) states.set(step.node_id, { look: jobLook(job), word: jobStateText(job), ...visits })
    }
    return { states, jobsOf }
  }, [steps.data, jobs.data])
}

export function draftOf(workflow: Workflow): Draft {
  return {
    start: workflow.start,
    nodes: workflow.graph.nodes ?? [],
    edges: workflow.graph.edges ?? [],
  }
}

/** Tasks and workflows that it runs, by id. */
export function tasksOf(workflow: Workflow): Map<string, { name: string; detail: string }> {
  return new Map([
    ...workflow.tasks.map((task) => [task.id, { name: task.name, detail: task.type }] as const),
    ...workflow.workflows.map((part) => [part.id, { name: part.name, detail: '' }] as const),
  ])
}

/** A run of a workflow, live; a click on a step opens its job. */
export function RunGraph({ workflowId, jobId }: { workflowId: string; jobId: string }) {
  const workflow = useQuery(workflowQuery(workflowId))
  return (
    <QueryResult query={workflow}>
      {(data) => <Picture workflow={data} jobId={jobId} />}
    </QueryResult>
  )
}

function Picture({ workflow, jobId }: { workflow: Workflow; jobId: string }) {
  const t = useText()
  const go = useAppNavigate()
  const { states, jobsOf } = useSteps(workflow.id, jobId)
  const open = (node: string | null) => {
    const job = node && jobsOf.get(node)?.at(-1)
    if (job) go(`/jobs/${job}`)
  }
  if (!workflow.graph.nodes?.length) return <Text size="sm">{t.gone}</Text>
  return (
    <FlowView draft={draftOf(workflow)} tasks={tasksOf(workflow)} steps={states} onSelect={open} />
  )
}
