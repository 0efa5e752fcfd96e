import type { Job } from '../../../api/queries/job'
import type { Argument } from '../../../ui/arguments/values'
import { showError } from '../../../ui/toast'
import { useJobText } from '../jobText'
import { useRestart } from './useRestart'
import { ValuesForm } from './ValuesForm'

/** Runs a job once more with other values. */
export function RestartDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const t = useJobText()
  const restart = useRestart(showError)
  return (
    <ValuesForm
      title={`${t.restart}: ${job.name}`}
      definitions={(job.task?.task_arguments ?? []) as Argument[]}
      before={job.task_arguments_values ?? []}
      action={t.restart}
      busy={restart.isPending}
      fault={restart.error}
      onSend={(values) => restart.mutate({ job, values })}
      onClose={onClose}
    />
  )
}
