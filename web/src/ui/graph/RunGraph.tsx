import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import {
  stepJobsQuery,
  stepsQuery,
  type Workflow,
  workflowQuery,
} from '../../api/queries/automation/workflow'
import { jobLook, jobStateText } from '../../lib/state'
import { QueryResult } from '../layout/QueryResult'
import { edgeStateOf } from './edgeStates'
import { FlowView, type StepState } from './FlowView'
import type { Draft, Edge } from './graphDraft'
import { RunFromStep, StepDetails } from './StepDetails'
import { useText } from './text'

/** How far each node of a run is, from the jobs of its steps. */
export function useSteps(workflow: string, job: string | null) {
  const steps = useQuery({ ...stepsQuery(workflow, job ?? ''), enabled: job !== null })
  const jobs = useQuery({ ...stepJobsQuery(workflow, job ?? ''), enabled: job !== null })
  return useMemo(() => {
    const byId = new Map(jobs.data?.map((job) => [job.id, job]))
    const states = new Map<string, StepState>()
    // The jobs of a node's visits, oldest first; the newest has the current state.
    const jobsOf = new Map<string, string[]>()
    for (const step of steps.data ?? []) {
      const job = byId.get(step.job_id)
      jobsOf.set(step.node_id, [...(jobsOf.get(step.node_id) ?? []), step.job_id])
      const visits = step.visit > 1 ? { visits: step.visit } : {}
      if (job) states.set(step.node_id, { look: jobLook(job), word: jobStateText(job), ...visits })
    }
    const edgeState = (edge: Edge) => edgeStateOf(edge, steps.data ?? [])
    return { states, jobsOf, edgeState }
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

/** A run of a workflow, live; a click on a step shows its log, input and output. */
export function RunGraph({ workflowId, jobId }: { workflowId: string; jobId: string }) {
  const workflow = useQuery(workflowQuery(workflowId))
  const [step, setStep] = useState<string | null>(null)
  return (
    <QueryResult query={workflow}>
      {(data) => <RunPicture workflow={data} jobId={jobId} step={step} onStep={setStep} />}
    </QueryResult>
  )
}

interface PictureProps {
  workflow: Workflow
  /** None: the graph without a run. */
  jobId: string | null
  step: string | null
  onStep: (step: string | null) => void
}

/** The graph, and next to it the selected step. */
export function RunPicture({ workflow, jobId, step, onStep }: PictureProps) {
  const t = useText()
  const { states, jobsOf, edgeState } = useSteps(workflow.id, jobId)
  const node = workflow.graph.nodes?.find((candidate) => candidate.id === step)
  if (!workflow.graph.nodes?.length) return <Text size="sm">{t.taskDeleted}</Text>
  return (
    <div className="flow-beside" data-panel={!!node}>
      <FlowView
        draft={draftOf(workflow)}
        tasks={tasksOf(workflow)}
        steps={jobId ? states : undefined}
        edgeState={jobId ? edgeState : undefined}
        selected={step}
        onSelect={onStep}
      />
      {node ? (
        <StepDetails
          key={`${jobId} ${node.id}`}
          node={node}
          jobs={jobsOf.get(node.id) ?? []}
          hasRun={!!jobId}
          onClose={() => onStep(null)}
        >
          {jobId ? (
            <RunFromStep
              workflow={workflow}
              jobId={jobId}
              node={node}
              stepJobId={jobsOf.get(node.id)?.at(-1) ?? ''}
            />
          ) : null}
        </StepDetails>
      ) : null}
    </div>
  )
}
