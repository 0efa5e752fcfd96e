import { ActionIcon, Anchor, Badge, Button, Group, Select, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CalendarPlus, X } from 'lucide-react'
import { startersQuery, type Task, taskQuery } from '../../../api/queries/automation/task'
import { useCan } from '../../../app/session'
import { Go } from '../../../ui/AppLink'
import { Ago } from '../../../ui/state/Time'
import { failed } from '../../../ui/toast'
import { patch } from '../draft/saveTask'
import { Card } from '../form/FormCard'
import { useText } from '../text'
import { choices, emitterOf, starterName } from './triggers'

const HOMES: Record<string, string> = {
  task: '/tasks',
  webhook: '/webhooks',
  monitor: '/monitors',
  workflow: '/workflows',
  indicator: '/indicators',
}

/** What starts the task besides people. */
export function TriggersTab({ task }: { task: Task }) {
  return (
    <Stack gap={12} maw={720}>
      <Events task={task} />
      <Schedules task={task} />
    </Stack>
  )
}

function Events({ task }: { task: Task }) {
  const t = useText().trigger
  const mayEdit = useCan()('task.edit')
  const { data: all = [] } = useQuery(startersQuery)
  const client = useQueryClient()
  const change = useMutation({
    mutationFn: (triggers: string[]) => patch(task.id, task.version, { triggers }),
    onSuccess: (next) => client.setQueryData(taskQuery(task.id).queryKey, next),
    onError: (fault) => {
      failed(fault)
      void client.invalidateQueries({ queryKey: ['task', task.id] })
    },
  })
  return (
    <Card title={t.title}>
      <Text size="xs" c="dimmed">
        {t.body}
      </Text>
      {task.triggers.length === 0 ? <Text size="sm">{t.none}</Text> : null}
      {task.triggers.map((id) => {
        const found = all.find((one) => one.id === id)
        const name = found ? starterName(found) : t.gone
        const kind = emitterOf(id)
        return (
          <Group key={id} gap={8} wrap="nowrap">
            <Badge size="sm">{t.emitters[kind] ?? kind}</Badge>
            <Text size="sm" className="clip" flex={1}>
              {found ? (
                <Anchor component={Go} to={`${HOMES[kind]}/${found.emitter_id}`} size="sm">
                  {name}
                </Anchor>
              ) : (
                name
              )}
            </Text>
            {mayEdit ? (
              <ActionIcon
                aria-label={t.remove(name)}
                onClick={() => change.mutate(task.triggers.filter((one) => one !== id))}
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
    </Card>
  )
}

function Schedules({ task }: { task: Task }) {
  const t = useText().trigger
  const mayEdit = useCan()('schedule.edit')
  return (
    <Card title={t.schedules}>
      {task.schedules.length === 0 ? <Text size="sm">{t.noSchedule}</Text> : null}
      {task.schedules.map((one) => (
        <Group key={one.id} gap={8} wrap="nowrap">
          <Text size="sm" className="clip" flex={1}>
            <Anchor component={Go} to={`/schedules/${one.id}`} size="sm">
              {one.name || one.repeatEvery}
            </Anchor>
          </Text>
          <Text size="xs" c="dimmed">
            <span className="mono">{one.repeatEvery}</span>{' '}
            {one.nextRunAt ? (
              <>
                · {t.next} <Ago at={one.nextRunAt} />
              </>
            ) : null}
          </Text>
        </Group>
      ))}
      {mayEdit ? (
        <Button
          component={Go}
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
    </Card>
  )
}
