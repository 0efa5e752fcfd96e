import { Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { taskNamesQuery } from '../../../api/queries/automation/task'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'
import { FormCard } from './FormCard'

export function GeneralFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const knownTags = [...new Set(tasks.flatMap((task) => task.tags))].sort()
  return (
    <FormCard title={t.general}>
      <TextInput
        label={t.name}
        description={t.nameHint}
        required
        readOnly={readOnly}
        value={task.name}
        error={errors.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {task.type === 'approval' ? null : (
        <Textarea
          label={t.description}
          autosize
          minRows={1}
          maxRows={6}
          readOnly={readOnly}
          value={task.description}
          error={errors.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
      )}
      <OptionGroup
        title={t.groups.tags}
        summary={[...task.tags, ...(task.enable ? [] : [t.off])].join(', ')}
        hasErrors={hasErrorIn(errors, ['tags'])}
      >
        <TagsInput
          label={t.tags}
          readOnly={readOnly}
          data={knownTags}
          value={task.tags}
          error={errors.tags}
          onChange={(tags) => set({ tags })}
        />
        <Switch
          label={t.enabled}
          disabled={readOnly}
          checked={task.enable}
          onChange={(event) => set({ enable: event.currentTarget.checked })}
        />
      </OptionGroup>
    </FormCard>
  )
}
