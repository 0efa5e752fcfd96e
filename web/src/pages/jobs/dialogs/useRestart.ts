import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { isWorkflow, type Job, restartWorkflowJob } from '../../../api/queries/job'
import { useAppNavigate } from '../../../ui/AppLink'
import { showError } from '../../../ui/toast'

interface RestartRequest {
  job: Job
  /** Other values than the last time. */
  values?: unknown[]
  /** For a workflow: all steps, or the failed ones. */
  from?: 'start' | 'failed'
}

function send({ job, values, from = 'start' }: RestartRequest): Promise<Job> {
  if (isWorkflow(job)) return restartWorkflowJob(job, from)
  return ok(
    api.PUT('/job/{id}/restart', {
      params: { path: { id: job.id } },
      body: { task_arguments: values ?? null },
    } as never),
  )
}

/** Runs it again as a new job, and opens that job. */
export function useRestart(onError: (fault: unknown) => void = showError) {
  const go = useAppNavigate()
  const client = useQueryClient()
  return useMutation({
    mutationFn: send,
    onSuccess: (job) => {
      void client.invalidateQueries({ queryKey: ['job', 'list'] })
      go(`/jobs/${job.id}`)
    },
    onError,
  })
}
