import { SegmentedControl, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api, ok } from '../../../api/client'
import type { Job } from '../../../api/queries/job'
import { FormDialog } from '../../../ui/form/FormDialog'
import { showError } from '../../../ui/toast'
import { useJobText } from '../jobText'

const OUTCOMES = ['success', 'normal', 'failure'] as const

/** A person sets the outcome of a job that cannot report it any more. */
export function ResolveDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const t = useJobText()
  const label = useId()
  const client = useQueryClient()
  const [outcome, setOutcome] = useState<string>('success')
  const [note, setNote] = useState('')
  const resolve = useMutation({
    mutationFn: () =>
      ok<Job>(
        api.PUT('/job/{id}/resolve', { params: { path: { id: job.id } }, body: { outcome, note } }),
      ),
    onSuccess: (next) => {
      client.setQueryData(['job', job.id], next)
      onClose()
    },
    onError: showError,
  })
  return (
    <FormDialog
      title={t.resolveTitle}
      action={t.setResult}
      busy={resolve.isPending}
      onClose={onClose}
      onSubmit={() => resolve.mutate()}
    >
      <Text size="sm">{t.resolveBody}</Text>
      <Text size="sm" fw={500} id={label}>
        {t.outcome}
      </Text>
      <SegmentedControl
        aria-labelledby={label}
        value={outcome}
        onChange={setOutcome}
        data={OUTCOMES.map((value) => ({ value, label: t.outcomes[value] }))}
      />
      <Textarea
        label={t.note}
        placeholder={t.noteHint}
        autosize
        minRows={2}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
