import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { useKeys } from '../../../app/keys'
import { Form } from '../../../ui/form/Form'
import { useWords } from '../../../ui/text'
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
  const w = useWords()
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
  useKeys({ 'mod+Enter': () => pause.mutate() })
  return (
    <Modal
      opened
      onClose={onClose}
      title={t.pauseTitle}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Form onSubmit={() => pause.mutate()}>
        <Stack gap="sm">
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
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" loading={pause.isPending}>
              {t.pause}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  )
}
