import { Button, Group, Modal, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import { useWords } from '../../ui/text'
import { useText } from './text'

interface Task {
  id: string
  name: string
  hostname: string
}

interface Props {
  opened: boolean
  tasks: Task[]
  onClose: () => void
  onPick: (task: Task) => void
}

export function TaskPicker({ opened, tasks, onClose, onPick }: Props) {
  const t = useText()
  const w = useWords()
  const [id, setId] = useState<string | null>(null)
  const task = tasks.find((one) => one.id === id)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t.addStep}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!task) return
          onPick(task)
          setId(null)
          onClose()
        }}
      >
        <Stack gap="sm">
          <Select
            data-autofocus
            searchable
            label={t.addStepHelp}
            data={tasks.map((one) => ({
              value: one.id,
              label: one.hostname ? `${one.name} · ${one.hostname}` : one.name,
            }))}
            value={id}
            onChange={setId}
          />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" disabled={!task}>
              {t.addStep}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
