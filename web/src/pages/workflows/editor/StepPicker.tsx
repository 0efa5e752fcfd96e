import { Button, Group, Select } from '@mantine/core'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { choiceOf, MAX_CHOICES, type ObjectName } from '../../../api/queries/names'
import { FormDialog } from '../../../ui/form/FormDialog'
import type { Runs } from '../../../ui/graph/graphDraft'
import { useText } from '../text'

interface Props {
  opened: boolean
  tasks: ObjectName[]
  workflows: ObjectName[]
  onClose: () => void
  onPick: (runs: Runs) => void
  /** Creates a task instead; none: the reader may not. */
  onCreate?: () => void
}

/** The target of a new step: a task, or another workflow. */
export function StepPicker({ opened, tasks, workflows, onClose, onPick, onCreate }: Props) {
  const t = useText()
  const [id, setId] = useState<string | null>(null)
  const task = tasks.find((candidate) => candidate.id === id)
  const workflow = workflows.find((candidate) => candidate.id === id)
  const runs: Runs | undefined = task ?? (workflow && { ...workflow, isWorkflow: true })
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={t.addStep}
      action={t.addStep}
      disabled={!runs}
      onSubmit={() => {
        if (!runs) return
        onPick({ id: runs.id, name: runs.name, isWorkflow: runs.isWorkflow })
        setId(null)
        onClose()
      }}
    >
      {onCreate ? (
        <Group>
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<Plus size={14} />}
            onClick={onCreate}
          >
            {t.newTask}
          </Button>
        </Group>
      ) : null}
      <Select
        data-autofocus
        searchable
        limit={MAX_CHOICES}
        label={t.addStepHelp}
        data={[
          {
            group: t.tasksGroup,
            items: tasks.map(choiceOf),
          },
          {
            group: t.workflowsGroup,
            items: workflows.map(choiceOf),
          },
        ]}
        value={id}
        onChange={setId}
      />
    </FormDialog>
  )
}
