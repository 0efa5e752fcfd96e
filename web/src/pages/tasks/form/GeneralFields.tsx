import { Switch, TagsInput, Text, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Task } from '../../../api/queries/automation/task'
import { tagNamesQuery, taskNamesQuery } from '../../../api/queries/names'
import { sortNames } from '../../../lib/format'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
import { Warning } from '../../../ui/layout/Warning'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'
import { FormCard } from './FormCard'

/** Hosts that the warning about a name lists. */
const MAX_HOSTS = 5

export function GeneralFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const { data: knownTags = [] } = useQuery(tagNamesQuery('task'))
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
      <SameName task={task} />
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

/** Two tasks may have the same name; whoever runs them by name has to tell them apart. */
function SameName({ task }: { task: Task }) {
  const t = useText()
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const name = task.name.trim()
  const others = tasks.filter((other) => other.name === name && other.id !== task.id)
  if (others.length === 0) return null
  const hosts = sortNames(new Set(others.map(({ detail }) => detail).filter(Boolean)))
  const more = hosts.length > MAX_HOSTS ? ', …' : ''
  const title = t.sameName(others.length, hosts.slice(0, MAX_HOSTS).join(', ') + more)
  return (
    <Warning title={title} mb={0}>
      <Text size="sm">{t.sameNameHint}</Text>
    </Warning>
  )
}
