import { ActionIcon, Anchor, Badge, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CalendarPlus, X } from 'lucide-react'
import { type Task, taskQuery, triggersQuery } from '../../../api/queries/automation/task'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { Ago } from '../../../ui/state/Time'
import { showError } from '../../../ui/toast'
import { patchTask } from '../draft/saveTask'
import { FormCard } from '../form/FormCard'
import { useDetailText } from './text'
import { choices, emitterOf, triggerName } from './triggers'

const HOMES: Record<string, string> = {
  task: '/tasks',
  webhook: '/webhooks',
  monitor: '/monitors',
  workflow: '/workflows',
  indicator: '/indicators',
}

/** Triggers of the task. */
export function TaskTriggersTab({ task }: { task: Task }) {
  return (
    <Stack gap={12} maw={720}>
      <Events task={task} />
      <Schedules task={task} />
    </Stack>
  )
}

function Events({ task }: { task: Task }) {
  const t = useDetailText().trigger
  const mayEdit = useCan()('task.edit')
  const { data: all = [] } = useQuery(triggersQuery)
  const client = useQueryClient()
  const change = useMutation({
    mutationFn: (triggers: string[]) => patchTask(task.id, task.version, { triggers }),
    onSuccess: (next) => client.setQueryData(taskQuery(task.id).queryKey, next),
    onError: (fault) => {
      showError(fault)
      void client.invalidateQueries({ queryKey: ['task', task.id] })
    },
  })
  return (
    <FormCard title={t.title}>
      <Text size="xs" c="dimmed">
        {t.body}
      </Text>
      {task.triggers.length === 0 ? <Text size="sm">{t.none}</Text> : null}
      {task.triggers.map((id) => {
        const trigger = all.find((candidate) => candidate.id === id)
        const name = trigger ? triggerName(trigger) : t.gone
        const kind = emitterOf(id)
        return (
          <Group key={id} gap={8} wrap="nowrap">
            <Badge size="sm">{t.emitters[kind] ?? kind}</Badge>
            <Text size="sm" className="clip" flex={1}>
              {trigger ? (
                <Anchor component={AppLink} to={`${HOMES[kind]}/${trigger.emitter_id}`} size="sm">
                  {name}
                </Anchor>
              ) : (
                name
              )}
            </Text>
            {mayEdit ? (
              <ActionIcon
                aria-label={t.remove(name)}
                onClick={() => change.mutate(task.triggers.filter((other) => other !== id))}
              >
                <X size={14} />
              </ActionIcon>
            ) : null}
          </Group>
        )
      })}
      {mayEdit ? (
        <Select
          label={t.add}
          searchable
          value={null}
          disabled={change.isPending}
          data={choices(all, task.triggers, task.id, t.emitters)}
          onChange={(id) => id && change.mutate([...task.triggers, id])}
        />
      ) : null}
    </FormCard>
  )
}

function Schedules({ task }: { task: Task }) {
  const t = useDetailText().trigger
  const mayEdit = useCan()('schedule.edit')
  return (
    <FormCard title={t.schedules}>
      {task.schedules.length === 0 ? <Text size="sm">{t.noSchedule}</Text> : null}
      {task.schedules.map((schedule) => (
        <Group key={schedule.id} gap={8} wrap="nowrap">
          <Text size="sm" className="clip" flex={1}>
            <Anchor component={AppLink} to={`/schedules/${schedule.id}`} size="sm">
              {schedule.name || schedule.repeatEvery}
            </Anchor>
          </Text>
          <Text size="xs" c="dimmed">
            <span className="mono">{schedule.repeatEvery}</span>{' '}
            {schedule.nextRunAt ? (
              <>
                · {t.next} <Ago at={schedule.nextRunAt} />
              </>
            ) : null}
          </Text>
        </Group>
      ))}
      {mayEdit ? (
        <Button
          component={AppLink}
          to="/schedules/new"
          search={{ task: task.id }}
          variant="default"
          size="compact-sm"
          leftSection={<CalendarPlus size={12} />}
          style={{ alignSelf: 'flex-start' }}
        >
          {t.addSchedule}
        </Button>
      ) : null}
    </FormCard>
  )
}
