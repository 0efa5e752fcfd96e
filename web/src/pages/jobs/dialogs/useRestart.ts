import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { isWorkflow, type Job } from '../../../api/queries/job'
import { useAppNavigate } from '../../../ui/AppLink'
import { showError } from '../../../ui/toast'

interface RestartRequest {
  job: Job
  /** Other values than the last time. */
  values?: unknown[]
}

function send({ job, values }: RestartRequest): Promise<Job> {
  if (isWorkflow(job) && job.workflow_id) {
    const path = { id: job.workflow_id, workflow_job_id: job.id }
    return ok(
      api.PUT('/workflows/{id}/job/{workflow_job_id}/restart', { params: { path } } as never),
    )
  }
  return ok(
    api.PUT('/job/{id}/restart', {
      params: { path: { id: job.id } },
      body: { task_arguments: values ?? null },
    } as never),
  )
}

/** Runs it once more, as a new job, and goes there. */
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
