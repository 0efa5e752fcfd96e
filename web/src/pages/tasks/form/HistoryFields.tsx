import { Group, NumberInput, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { customerQuery } from '../../../api/queries/access'
import type { FormProps } from '../draft/taskDraft'
import { useText } from '../text'

/** How many ended jobs are kept: the default of the organization, or the number of this task. */
export function HistoryFields({ task, set, errors, readOnly }: FormProps) {
  const t = useText()
  const { data } = useQuery(customerQuery)
  const { history } = task
  const inherited = history.inherited ?? false
  const effective = inherited && data ? { ...history, ...data.history } : history
  const change = (next: { count?: number; days?: number; inherited?: boolean }) =>
    set({ history: { ...effective, inherited: false, ...next } })
  return (
    <div>
      <Text size="sm" fw={500}>
        {t.history}
      </Text>
      <Text size="sm" c="dimmed" mb={6}>
        {inherited
          ? t.historyInherited(effective.count ?? 0, effective.days ?? 0)
          : t.historyOwn(effective.count ?? 0, effective.days ?? 0)}
      </Text>
      <Switch
        label={t.historyDefault}
        disabled={readOnly}
        checked={inherited}
        onChange={(event) =>
          event.currentTarget.checked
            ? change({ ...data?.history, inherited: true })
            : change({ inherited: false })
        }
      />
      {inherited ? null : (
        <Group gap={8} grow align="flex-end" mt={6}>
          <NumberInput
            label={t.historyCount}
            min={0}
            readOnly={readOnly}
            value={effective.count ?? ''}
            error={errors['history.count']}
            onChange={(next) => change({ count: Number(next) })}
          />
          <NumberInput
            label={t.historyDays}
            min={0}
            readOnly={readOnly}
            value={effective.days ?? ''}
            error={errors['history.days']}
            onChange={(next) => change({ days: Number(next) })}
          />
        </Group>
      )}
    </div>
  )
}
