import { Select } from '@mantine/core'
import { useState } from 'react'
import { FormDialog } from '../../ui/FormDialog'
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
  const [id, setId] = useState<string | null>(null)
  const task = tasks.find((one) => one.id === id)
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.addStep}
      action={t.addStep}
      disabled={!task}
      onSubmit={() => {
        if (!task) return
        onPick(task)
        setId(null)
        onClose()
      }}
    >
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
    </FormDialog>
  )
}
