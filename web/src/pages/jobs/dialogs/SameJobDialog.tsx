import { useQuery } from '@tanstack/react-query'
import { type Job, jobQuery } from '../../../api/queries/job'
import { RunDialog } from '../../../ui/run/RunDialog'

/** Runs the task of a job with the values of that job, which can be changed first. */
export function SameJobDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { data } = useQuery(jobQuery(job.id))
  if (!data?.task_id) return null
  return (
    <RunDialog
      target={{ kind: 'task', id: data.task_id, name: data.name }}
      from={{ id: data.id, values: data.task_arguments_values ?? [] }}
      opened
      onClose={onClose}
    />
  )
}
