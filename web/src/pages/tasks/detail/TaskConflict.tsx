import { Stack, Text } from '@mantine/core'
import { ChangedFields } from '../../../ui/editConflict/ChangedFields'
import { EditConflict } from '../../../ui/editConflict/EditConflict'
import { DiffView } from '../../../ui/editor/DiffView'
import { definitionOf } from '../draft/taskDraft'
import type { TaskForm } from '../draft/useTaskForm'
import { useText } from '../text'

/** Someone else changed the definition or the script that is being edited. */
export function TaskConflict({ form }: { form: TaskForm }) {
  const t = useText()
  const { draft, script } = form
  const whose = draft.theirs
    ? { object: 'task', id: draft.theirs.id, version: draft.theirs.version }
    : script.theirs && {
        object: 'file',
        id: script.theirs.file.id,
        version: script.theirs.file.version,
      }
  if (!whose) return null
  return (
    <EditConflict
      {...whose}
      error={form.error}
      onTake={() => form.settle(false)}
      onKeep={() => form.settle(true)}
    >
      <Stack gap="sm">
        {draft.theirs ? (
          <ChangedFields
            before={definitionOf(draft.base)}
            after={definitionOf(draft.theirs)}
            edits={draft.edits}
          />
        ) : null}
        {script.theirs ? (
          <>
            <Text size="sm" fw={600}>
              {t.script}
            </Text>
            <DiffView before={script.before} after={script.theirs.content.text} label={t.script} />
          </>
        ) : null}
      </Stack>
    </EditConflict>
  )
}
