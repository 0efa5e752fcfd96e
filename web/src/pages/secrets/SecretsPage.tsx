import { ActionIcon, Anchor, Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { KeyRound, Pencil, Plus, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { type Secret, secretsQuery } from '../../api/queries/automation/secret'
import { taskNamesQuery } from '../../api/queries/names'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { AppLink } from '../../ui/AppLink'
import { ConfirmDialog } from '../../ui/form/ConfirmDialog'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Ago } from '../../ui/state/Time'
import { useWords } from '../../ui/text'
import { showError, showSuccess } from '../../ui/toast'
import { SecretForm } from './SecretForm'
import './secrets.css'
import { useText } from './text'

const secretsRoute = getRouteApi('/$customer/secrets')

export function SecretsPage() {
  const t = useText()
  usePageTitle(t.list)
  const may = useCan()('secret.edit')
  return may ? <Inside /> : <EmptyState icon={KeyRound} title={t.adminsOnly} />
}

function Inside() {
  const t = useText()
  const { task, set } = secretsRoute.useSearch()
  const navigate = secretsRoute.useNavigate()
  const query = useQuery(secretsQuery)
  const [form, setForm] = useState<{ old?: Secret } | null>(set ? {} : null)
  const [removing, setRemoving] = useState<Secret | null>(null)
  const names = useTaskNames()
  const clear = () => void navigate({ search: {}, replace: true })
  useKeys({ c: () => setForm({}) })
  return (
    <Paper withBorder>
      <Group className="head" gap={8}>
        {task ? (
          <Button variant="default" rightSection={<X size={12} />} onClick={clear}>
            {t.onlyTask} {names.get(task) ?? t.goneTask}
          </Button>
        ) : null}
        <Text size="xs" c="dimmed" className="num" role="status">
          {query.data ? t.count(query.data.length) : ''}
        </Text>
        <Button ml="auto" leftSection={<Plus size={14} />} onClick={() => setForm({})}>
          {t.set}
        </Button>
      </Group>
      <QueryResult query={query}>
        {(secrets) => (
          <List
            secrets={secrets.filter((secret) => !task || secret.task_id === task)}
            names={names}
            onChange={(old) => setForm({ old })}
            onRemove={setRemoving}
          />
        )}
      </QueryResult>
      {form ? <SecretForm old={form.old} taskId={task} onClose={() => setForm(null)} /> : null}
      <Removing secret={removing} onClose={() => setRemoving(null)} />
    </Paper>
  )
}

function useTaskNames(): Map<string, string> {
  const { data = [] } = useQuery(taskNamesQuery)
  return new Map(
    data.map((task) => [task.id, task.detail ? `${task.name}, ${task.detail}` : task.name]),
  )
}

interface ListProps {
  secrets: Secret[]
  names: Map<string, string>
  onChange: (secret: Secret) => void
  onRemove: (secret: Secret) => void
}

function List({ secrets, names, onChange, onRemove }: ListProps) {
  const t = useText()
  if (secrets.length === 0)
    return (
      <EmptyState icon={KeyRound} title={t.first}>
        {t.firstBody}
      </EmptyState>
    )
  return (
    <ul className="secrets-list" aria-label={t.list}>
      {secrets.map((secret) => (
        <li key={secret.id} className="row secrets-row">
          <div style={{ minWidth: 0 }}>
            <Group gap={6} wrap="nowrap">
              <Text size="sm" fw={600} className="mono clip">
                {secret.name}
              </Text>
              <Badge size="xs" className="secrets-kind">
                {secret.secret ? t.secret : t.variable}
              </Badge>
            </Group>
            <Text size="xs" c="dimmed" className="clip">
              {[secret.description, secret.secret ? '' : secret.value].filter(Boolean).join(' · ')}
            </Text>
          </div>
          <Text size="sm" className="clip secrets-scope" component="div">
            {secret.task_id ? (
              <Anchor component={AppLink} to={`/tasks/${secret.task_id}`} size="sm">
                {names.get(secret.task_id) ?? t.goneTask}
              </Anchor>
            ) : (
              t.all
            )}
          </Text>
          <Text size="xs" c="dimmed" className="hide-sm" component="div">
            <Ago at={secret.last_update} /> {t.setBy(secret.updated_by)}
          </Text>
          <Group gap={2} wrap="nowrap">
            <ActionIcon aria-label={t.change(secret.name)} onClick={() => onChange(secret)}>
              <Pencil size={14} />
            </ActionIcon>
            <ActionIcon aria-label={t.remove(secret.name)} onClick={() => onRemove(secret)}>
              <Trash2 size={14} />
            </ActionIcon>
          </Group>
        </li>
      ))}
    </ul>
  )
}

function Removing({ secret, onClose }: { secret: Secret | null; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: ({ name, task_id }: Secret) =>
      ok(
        api.DELETE('/secret/{name}', {
          params: { path: { name }, query: task_id ? { task_id } : {} },
        } as never),
      ),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['secret'] })
      showSuccess(t.deleted)
      onClose()
    },
    onError: showError,
  })
  return (
    <ConfirmDialog
      opened={!!secret}
      title={w.reallyDelete(secret?.name ?? '')}
      action={w.delete}
      busy={remove.isPending}
      onClose={onClose}
      onConfirm={() => secret && remove.mutate(secret)}
    >
      {t.deleteBody}
    </ConfirmDialog>
  )
}
