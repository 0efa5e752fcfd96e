import { Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { stepJobsQuery, stepsQuery } from '../../../../api/queries/automation/workflow'
import type { Job } from '../../../../api/queries/job'
import { jobLook, jobStateText } from '../../../../lib/state'
import { AppLink } from '../../../../ui/AppLink'
import { RunGraph } from '../../../../ui/graph/RunGraph'
import { QueryResult } from '../../../../ui/layout/QueryResult'
import { Section } from '../../../../ui/layout/Section'
import { StateIcon } from '../../../../ui/state/StateIcon'
import { Duration } from '../../../../ui/state/Time'
import { useJobText } from '../../jobText'

/** The run of the workflow that this job is, or is a step of. */
export function JobGraphTab({ job }: { job: Job }) {
  // One that is a step of another workflow still shows its own graph.
  const run = job._type === 'WorkflowJob' ? job.id : (job.workflow_job_id ?? job.id)
  if (!job.workflow_id) return null
  return (
    <Stack gap="md">
      <Paper withBorder className="jobs-graph">
        <RunGraph workflowId={job.workflow_id} jobId={run} />
      </Paper>
      <Steps workflowId={job.workflow_id} run={run} here={job.id} />
    </Stack>
  )
}

/** The same as a list: every step with its job. */
function Steps({ workflowId, run, here }: { workflowId: string; run: string; here: string }) {
  const t = useJobText()
  const query = useQuery(stepJobsQuery(workflowId, run))
  const { data: steps = [] } = useQuery(stepsQuery(workflowId, run))
  const again = new Set(steps.flatMap((step) => (step.visit > 1 ? [step.node_id] : [])))
  const visits = new Map(
    steps.flatMap((step) => (again.has(step.node_id) ? [[step.job_id, step.visit]] : [])),
  )
  const visitOf = (id: string) => (visits.has(id) ? ` · ${t.visit(visits.get(id)!)}` : '')
  return (
    <Section title={t.steps}>
      <QueryResult query={query} lines={3}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {t.noSteps}
            </Text>
          ) : (
            [...jobs].reverse().map((step) => (
              <AppLink
                key={step.id}
                to={`/jobs/${step.id}`}
                className="row jobs-step"
                data-active={step.id === here}
              >
                <StateIcon look={jobLook(step)} />
                <span className="clip">
                  {step.name}
                  {visitOf(step.id)}
                </span>
                <Text size="xs" c="dimmed">
                  {jobStateText(step)}
                </Text>
                <Duration from={step.started_at} to={step.ended_at} />
              </AppLink>
            ))
          )
        }
      </QueryResult>
    </Section>
  )
}
