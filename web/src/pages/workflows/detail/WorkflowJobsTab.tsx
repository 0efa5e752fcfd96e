import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, ListChecks, RotateCcw, StepForward } from 'lucide-react'
import { api, ok, type Shape } from '../../../api/client'
import { runsQuery, type Workflow } from '../../../api/queries/automation/workflow'
import { movesOf, restartWorkflowJob } from '../../../api/queries/job'
import { shortId } from '../../../lib/jobId'
import { isOver, jobLook, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { originText } from '../../../ui/job/origin'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { LoadMore } from '../../../ui/list/LoadMore'
import { useMayRun } from '../../../ui/run/target'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration } from '../../../ui/state/Time'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

export function WorkflowJobsTab({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const runs = useInfiniteQuery(runsQuery(workflow.id))
  const all = runs.data?.pages.flatMap((page) => page.rows) ?? []
  return (
    <Section title={t.jobs}>
      <QueryResult query={runs}>
        {() =>
          all.length ? (
            <div role="list">
              {all.map((run) => (
                <RunRow key={run.id} workflow={workflow} run={run} />
              ))}
            </div>
          ) : (
            <EmptyState icon={ListChecks} title={t.noJobs}>
              {t.noJobsBody}
            </EmptyState>
          )
        }
      </QueryResult>
      <LoadMore query={runs} />
    </Section>
  )
}

function RunRow({ workflow, run }: { workflow: Workflow; run: Shape<'JobRecord'> }) {
  const t = useText()
  const client = useQueryClient()
  const mayRun = useMayRun()(workflow.acl)
  const params = { path: { id: workflow.id, workflow_job_id: run.id } }
  const settle = () => client.invalidateQueries({ queryKey: ['job'] })
  const cancel = useMutation({
    mutationFn: () => ok(api.PUT('/workflows/{id}/job/{workflow_job_id}/cancel', { params })),
    onError: showError,
    onSettled: settle,
  })
  const restart = useMutation({
    mutationFn: (from: 'start' | 'failed') => restartWorkflowJob(run, from),
    onError: showError,
    onSuccess: () => showSuccess(t.restarted),
    onSettled: settle,
  })
  const moves = movesOf(run)
  return (
    <div role="listitem" className="row flow-runs" data-row>
      <StateIcon look={jobLook(run)} title={jobStateText(run)} />
      <div className="clip">
        <AppLink
          to={`/workflows/${workflow.id}/graph`}
          search={{ job: run.id }}
          className="flow-name clip"
        >
          {jobStateText(run)} · {originText(run)}
        </AppLink>
        <Text size="xs" c="dimmed" component="div">
          <Ago at={run.creation_date} /> · <code>{shortId(run.id)}</code>
        </Text>
      </div>
      <Duration from={run.creation_date} to={run.ended_at} />
      {!isOver(run) ? (
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<Ban size={12} />}
          disabled={!mayRun}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          {t.cancelRun}
        </Button>
      ) : (
        <Group gap={6} justify="flex-end">
          {moves.has('resume') ? (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<StepForward size={12} />}
              disabled={!mayRun || restart.isPending}
              onClick={() => restart.mutate('failed')}
            >
              {t.resume}
            </Button>
          ) : null}
          <Button
            size="compact-xs"
            variant="default"
            leftSection={<RotateCcw size={12} />}
            disabled={!mayRun || restart.isPending}
            onClick={() => restart.mutate('start')}
          >
            {t.restart}
          </Button>
        </Group>
      )}
    </div>
  )
}
