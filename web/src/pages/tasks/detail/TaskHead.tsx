import { ActionIcon, Anchor, Badge, Button, Menu, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Copy, Download, EllipsisVertical, Play, Power } from 'lucide-react'
import { address, api, ok } from '../../../api/client'
import { type Task, taskJobsQuery, taskQuery } from '../../../api/queries/automation/task'
import { useCan } from '../../../app/session'
import { interval } from '../../../lib/format'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { DeleteButton } from '../../../ui/form/EditForm'
import { useMayRun } from '../../../ui/run/target'
import { useText as useRunText } from '../../../ui/run/text'
import { Ago } from '../../../ui/state/Time'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { patchTask } from '../draft/saveTask'
import type { TaskForm } from '../draft/useTaskForm'
import { useText } from '../text'

const USUAL_LIMIT_MS = 600_000

interface Props {
  task: Task
  form: TaskForm
  onRun: () => void
}

export function TaskHead({ task, form, onRun }: Props) {
  const t = useText()
  const r = useRunText()
  const mayEdit = useCan()('task.edit')
  const mayRun = useMayRun()(task.acl)
  return (
    <div className="task-head">
      <Title order={2} size="h4" className="clip">
        {form.draft.task.name || task.name}
      </Title>
      <Badge size="sm">{t.types[task.type]}</Badge>
      {task.enable ? null : <Badge size="sm">{t.off}</Badge>}
      <Facts task={task} />
      <div style={{ marginLeft: 'auto', display: 'flex', gap: 8, alignItems: 'center' }}>
        {form.isDirty ? (
          <Text size="xs" c="dimmed" className="hide-sm">
            {t.unsaved}
          </Text>
        ) : null}
        <Button
          leftSection={<Play size={14} />}
          disabled={!mayRun || !task.enable}
          title={mayRun ? (task.enable ? undefined : r.disabled) : r.mayNot}
          onClick={onRun}
        >
          {t.run}
        </Button>
        {mayEdit ? <More task={task} /> : null}
      </div>
    </div>
  )
}

function Facts({ task }: { task: Task }) {
  const t = useText()
  const { data: jobs = [] } = useQuery(taskJobsQuery(task.id))
  const last = jobs[0]
  return (
    <Text size="xs" c="dimmed" component="div">
      {task.host ? (
        <Anchor component={AppLink} to={`/hosts/${task.host.id}`} size="xs">
          {task.host.hostname}
        </Anchor>
      ) : null}
      {task.host ? ' · ' : ''}
      {last ? (
        <>
          {t.lastRun} <Ago at={last.creation_date} />
        </>
      ) : (
        t.neverRan
      )}
      {task.host ? ` · ${t.limit(interval(task.timeout ?? USUAL_LIMIT_MS))}` : ''}
    </Text>
  )
}

function More({ task }: { task: Task }) {
  const t = useText()
  const w = useWords()
  const toggle = useToggle(task)
  const go = useAppNavigate()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={w.more}>
          <EllipsisVertical size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Power size={14} />} onClick={() => toggle.mutate()}>
          {task.enable ? t.disable : t.enable}
        </Menu.Item>
        <Menu.Item
          leftSection={<Copy size={14} />}
          onClick={() => go('/tasks/new', { template: task.id })}
        >
          {t.copy}
        </Menu.Item>
        <Menu.Item
          leftSection={<Download size={14} />}
          component="a"
          href={address(`/task/${task.id}/serialize`)}
          download={`${task.name}.json`}
        >
          {t.export}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function useToggle(task: Task) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => patchTask(task.id, task.version, { enable: !task.enable }),
    onSuccess: (next) => client.setQueryData(taskQuery(task.id).queryKey, next),
    onError: showError,
  })
}

export function RemoveTask({ task }: { task: Task }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/task/{id}', { params: { path: { id: task.id } } }))
    showSuccess(t.deleted)
    go('/tasks')
    client.removeQueries({ queryKey: ['task', task.id] })
    void client.invalidateQueries({ queryKey: ['task'] })
  }
  return (
    <DeleteButton name={task.name} word={task.name} onDelete={remove}>
      {t.deleteBody}
    </DeleteButton>
  )
}
