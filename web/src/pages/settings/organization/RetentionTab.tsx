import { Button, NumberInput, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape, untypedQuery } from '../../../api/client'
import { AppLink } from '../../../ui/AppLink'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { HistoryDefault } from './HistoryDefault'
import '../settings.css'

type Task = Shape<'TaskRecord'>

export function RetentionTab() {
  const t = useText()
  const tasks = useQuery({
    queryKey: ['task', 'retention'],
    queryFn: () =>
      ok<Task[]>(api.GET('/task', { params: { query: untypedQuery({ 'sort[name]': 1 }) } })),
  })
  return (
    <Stack gap="md">
      <HistoryDefault />
      <Section title={t.retention}>
        <Text size="sm" c="dimmed" p="md">
          {t.retentionHelp}
        </Text>
        <QueryResult query={tasks}>
          {(all) =>
            all.length ? (
              <div role="list">
                {all.map((kind) => (
                  <KeepRow key={`${kind.id} ${JSON.stringify(kind.history)}`} task={kind} />
                ))}
              </div>
            ) : (
              <Text size="sm" px="md" pb="md">
                {t.noTasks}
              </Text>
            )
          }
        </QueryResult>
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
    mutationFn: (inherited: boolean) =>
      ok(
        api.PATCH('/task/{id}', {
          params: { path: { id: task.id } },
          body: { history: inherited ? { inherited } : { ...history, inherited } },
        }),
      ),
    onError: showError,
    onSuccess: () => showSuccess(t.changed),
    onSettled: () => client.invalidateQueries({ queryKey: ['task'] }),
  })
  const saveIfOther = () => {
    if (history.count !== task.history.count || history.days !== task.history.days)
      save.mutate(false)
  }
  return (
    <div role="listitem" className="row settings-keep">
      <div className="clip">
        <AppLink to={`/tasks/${task.id}`}>{task.name}</AppLink>
        <Text size="xs" c="dimmed" className="clip">
          {[task.hostname, task.history.inherited ? t.keepInherited : '']
            .filter(Boolean)
            .join(' · ')}
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
      {task.history.inherited ? null : (
        <Button
          size="compact-xs"
          variant="default"
          loading={save.isPending}
          onClick={() => save.mutate(true)}
        >
          {t.keepUseDefault}
        </Button>
      )}
    </div>
  )
}

function Purge() {
  const t = useText()
  const [isAsking, setAsking] = useState(false)
  const purge = useMutation({
    mutationFn: () => ok(api.DELETE('/job/finished')),
    onError: showError,
    onSuccess: () => {
      setAsking(false)
      showSuccess(t.purged)
    },
  })
  return (
    <Section title={t.purge} padded>
      <Stack gap="sm" align="flex-start">
        <Text size="sm">{t.purgeBody}</Text>
        <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsking(true)}>
          {t.purge}
        </Button>
        <ConfirmDialog
          opened={isAsking}
          title={t.purge}
          word={t.purgeWord}
          action={t.purge}
          busy={purge.isPending}
          onClose={() => setAsking(false)}
          onConfirm={purge.mutate}
        >
          {t.purgeBody}
        </ConfirmDialog>
      </Stack>
    </Section>
  )
}
