import { Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { FormDialog } from '../../../ui/form/FormDialog'
import { showError } from '../../../ui/toast'
import { useText } from '../text'

interface Props {
  id: string
  onClose: () => void
  onDone: () => void
}

/** Pauses a schedule, with an end or without. */
export function PauseDialog({ id, onClose, onDone }: Props) {
  const t = useText()
  const [until, setUntil] = useState('')
  const [note, setNote] = useState('')
  const pause = useMutation({
    mutationFn: () =>
      ok(
        api.PUT('/schedule/{id}/pause', {
          params: { path: { id } },
          body: { until: until ? new Date(until).toISOString() : null, note },
        }),
      ),
    onSuccess: () => {
      onDone()
      onClose()
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && showError(fault),
  })
  const errors = byField(pause.error)
  return (
    <FormDialog
      title={t.pauseTitle}
      action={t.pauseSchedule}
      busy={pause.isPending}
      onClose={onClose}
      onSubmit={() => pause.mutate()}
    >
      <Text size="sm">{t.pauseBody}</Text>
      <TextInput
        type="datetime-local"
        label={t.until}
        description={t.untilHint}
        data-autofocus
        value={until}
        error={errors.until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <TextInput
        label={t.note}
        value={note}
        error={errors.note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormDialog>
  )
}
