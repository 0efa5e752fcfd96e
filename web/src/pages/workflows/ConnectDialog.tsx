import { Autocomplete, Button, Group, Modal, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import type { Draft, Edge } from '../../ui/graph/draft'
import { useWords } from '../../ui/text'
import { useText } from './text'

/** Ends that every step can have. */
export const EVENTS = ['success', 'failure', 'timeout', 'canceled', 'always']

interface Props {
  opened: boolean
  draft: Draft
  onClose: () => void
  /** Whether it could be done. */
  onConnect: (edge: Edge) => boolean
}

/** Connecting without a mouse. */
export function ConnectDialog({ opened, draft, onClose, onConnect }: Props) {
  const t = useText()
  const w = useWords()
  const [source, setSource] = useState<string | null>(null)
  const [target, setTarget] = useState<string | null>(null)
  const [on, setOn] = useState('success')
  const names = draft.nodes.map((node) => node.id)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t.connectTitle}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (source && target && onConnect({ source, target, on: on.trim() || 'success' }))
            onClose()
        }}
      >
        <Stack gap="sm">
          <Select
            data-autofocus
            required
            searchable
            label={t.source}
            data={names}
            value={source}
            onChange={setSource}
          />
          <Autocomplete
            label={t.on}
            description={t.onHelp}
            data={EVENTS}
            value={on}
            onChange={setOn}
          />
          <Select
            required
            searchable
            label={t.target}
            data={names}
            value={target}
            onChange={setTarget}
          />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" disabled={!source || !target}>
              {t.connect}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
