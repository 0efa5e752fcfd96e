import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { StepForward } from 'lucide-react'
import { api, ok } from '../../api/client'
import type { Workflow } from '../../api/queries/automation/workflow'
import { jobQuery } from '../../api/queries/job'
import { isOver } from '../../lib/state'
import { useAppNavigate } from '../AppLink'
import { useMayRun } from '../run/target'
import { showError, showSuccess } from '../toast'
import { useText } from './text'

interface Props {
  workflow: Workflow
  /** The run whose earlier steps are kept. */
  jobId: string
  nodeId: string
}

/** Runs a step of a finished run again, with the same values, and all that follows it. */
export function RunFromStep({ workflow, jobId, nodeId }: Props) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const mayRun = useMayRun()(workflow.acl) && workflow.enable
  const { data: run } = useQuery(jobQuery(jobId))
  const start = useMutation({
    mutationFn: () =>
      ok(
        api.PUT('/workflows/{id}/job/{workflow_job_id}/restart', {
          params: {
            path: { id: workflow.id, workflow_job_id: jobId },
            query: { from: 'step', step: nodeId },
          },
        }),
      ),
    onSuccess: (job) => {
      showSuccess(t.startedFrom(nodeId))
      void client.invalidateQueries({ queryKey: ['job'] })
      go(`/workflows/${workflow.id}/graph`, { job: job.id, step: nodeId })
    },
    onError: showError,
  })
  if (!run || !isOver(run) || !mayRun) return null
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<StepForward size={12} />}
      title={t.runFromHelp}
      loading={start.isPending}
      onClick={() => start.mutate()}
    >
      {t.runFrom}
    </Button>
  )
}
