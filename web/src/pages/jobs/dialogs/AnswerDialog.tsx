import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import type { Job } from '../../../api/queries/job'
import type { Argument } from '../../../ui/arguments/values'
import { showError } from '../../../ui/toast'
import { useJobText } from '../jobText'
import { ValuesForm } from './ValuesForm'

/** Gives a job the input that it waits for. */
export function AnswerDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const t = useJobText()
  const client = useQueryClient()
  const answer = useMutation({
    mutationFn: (args: unknown[]) =>
      ok<Job>(
        api.PUT('/job/{id}/input', { params: { path: { id: job.id } }, body: { args } } as never),
      ),
    onSuccess: (next) => {
      client.setQueryData(['job', job.id], next)
      void client.invalidateQueries({ queryKey: ['job'] })
      onClose()
    },
    onError: showError,
  })
  return (
    <ValuesForm
      title={t.answerTitle(job.name)}
      definitions={(job.task?.task_arguments ?? []) as Argument[]}
      before={job.task_arguments_values ?? []}
      action={t.send}
      busy={answer.isPending}
      fault={answer.error}
      onSend={(values) => answer.mutate(values)}
      onClose={onClose}
    />
  )
}
