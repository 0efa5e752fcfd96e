import { Button, NumberInput, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, loose, ok, type Shape } from '../../../api/client'
import { Go } from '../../../ui/AppLink'
import { Confirm } from '../../../ui/form/ConfirmDialog'
import { Loaded } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { done, failed } from '../../../ui/toast'
import { useText } from '../text'
import '../settings.css'

type Task = Shape<'TaskRecord'>

export function Retention() {
  const t = useText()
  const tasks = useQuery({
    queryKey: ['task', 'retention'],
    queryFn: () => ok<Task[]>(api.GET('/task', { params: { query: loose({ 'sort[name]': 1 }) } })),
  })
  return (
    <Stack gap="md">
      <Section title={t.retention}>
        <Text size="sm" c="dimmed" p="md">
          {t.retentionHelp}
        </Text>
        <Loaded query={tasks}>
          {(all) => (
            <div role="list">
              {all.map((one) => (
                <KeepRow key={one.id} task={one} />
              ))}
            </div>
          )}
        </Loaded>
      </Section>
      <Purge />
    </Stack>
  )
}

function KeepRow({ task }: { task: Task }) {
  const t = useText()
  const client = useQueryClient()
  const [history, setHistory] = useState(task.history)
  const save = useMutation({
    mutationFn: () =>
      ok(api.PATCH('/task/{id}', { params: { path: { id: task.id } }, body: { history } })),
    onError: failed,
    onSuccess: () => done(t.changed),
    onSettled: () => client.invalidateQueries({ queryKey: ['task'] }),
  })
  const saveIfOther = () => {
    if (history.count !== task.history.count || history.days !== task.history.days) save.mutate()
  }
  return (
    <div role="listitem" className="row settings-keep">
      <div className="clip">
        <Go to={`/tasks/${task.id}`}>{task.name}</Go>
        <Text size="xs" c="dimmed" className="clip">
          {task.hostname}
        </Text>
      </div>
      {(['count', 'days'] as const).map((name) => (
        <NumberInput
          key={name}
          size="xs"
          min={0}
          aria-label={`${name === 'count' ? t.keepCount : t.keepDays}: ${task.name}`}
          suffix={` ${(name === 'count' ? t.keepCount : t.keepDays).toLowerCase()}`}
          value={history[name] ?? ''}
          onChange={(value) => setHistory({ ...history, [name]: Number(value) || 0 })}
          onBlur={saveIfOther}
        />
      ))}
    </div>
  )
}

function Purge() {
  const t = useText()
  const [asked, setAsked] = useState(false)
  const purge = useMutation({
    mutationFn: () => ok(api.DELETE('/job/finished')),
    onError: failed,
    onSuccess: () => {
      setAsked(false)
      done(t.purged)
    },
  })
  return (
    <Section title={t.purge} padded>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{t.purgeBody}</Text>
        <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsked(true)}>
          {t.purge}
        </Button>
        <Confirm
          opened={asked}
          title={t.purge}
          word={t.purgeWord}
          action={t.purge}
          busy={purge.isPending}
          onClose={() => setAsked(false)}
          onConfirm={purge.mutate}
        >
          {t.purgeBody}
        </Confirm>
      </Stack>
    </Section>
  )
}
