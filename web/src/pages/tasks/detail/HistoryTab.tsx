import { Stack, Text } from '@mantine/core'
import type { Task } from '../../../api/queries/automation/task'
import { useCan } from '../../../app/session'
import { Versions } from '../../../ui/editor/Versions'
import { Changes } from '../../../ui/history/Changes'
import { changedFields } from '../draft/taskDraft'
import { FormCard } from '../form/FormCard'
import { useText } from '../text'
import { useDetailText } from './text'

/** The history of the task: versions of its script, changes of its definition. */
export function HistoryTab({ task }: { task: Task }) {
  const t = useText()
  const detail = useDetailText()
  const can = useCan()
  return (
    <Stack gap={12}>
      {task.type === 'script' ? (
        <FormCard title={detail.past.versions}>
          {task.script_id && can('script.read') ? (
            <Versions id={task.script_id} />
          ) : (
            <Text size="sm">{task.script_id ? t.noSource : detail.past.none}</Text>
          )}
        </FormCard>
      ) : null}
      <FormCard title={detail.past.definition}>
        <Changes object="task" id={task.id} differing={changedFields} />
      </FormCard>
    </Stack>
  )
}
