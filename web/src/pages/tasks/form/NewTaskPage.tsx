import { Badge, Button, Group, Stack, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { byField } from '../../../api/errors'
import { contentQuery, scriptQuery } from '../../../api/queries/automation/script'
import { taskQuery } from '../../../api/queries/automation/task'
import { hostNamesQuery } from '../../../api/queries/monitoring/host'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useAppNavigate } from '../../../ui/AppLink'
import { mergeEdits } from '../../../ui/editConflict/heldVersion'
import { CodeEditor } from '../../../ui/editor/CodeEditor'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { createTask } from '../draft/saveTask'
import type { FormProps } from '../draft/taskDraft'
import { Templates } from '../list/FirstTask'
import { ArgumentList } from './arguments/ArgumentList'
import { GeneralFields } from './GeneralFields'
import { KindFields } from './KindFields'
import { OptionFields } from './OptionFields'
import '../tasks.css'
import { Form } from '../../../ui/form/Form'
import { type Template, templateOf } from '../draft/templates'
import { useText } from '../text'
import { ExecutionFields } from './ExecutionFields'

const newTaskRoute = getRouteApi('/$customer/tasks/new')

const isId = (text: string | undefined) => /^[0-9a-f]{24}$/.test(text ?? '')

export function NewTaskPage() {
  const t = useText()
  usePageTitle(t.newTask)
  const { template, script } = newTaskRoute.useSearch()
  const mayEdit = useCan()('task.edit')
  if (!mayEdit) return <EmptyState title={t.adminsEdit} />
  if (isId(template)) return <CopyOf id={template!} />
  if (!template && !script) return <Choose />
  return <NewTaskForm key={template} first={templateOf(template)} scriptId={script} />
}

function Choose() {
  const t = useText()
  return (
    <Stack p="md">
      <EmptyState title={t.newTask}>{t.firstBody}</EmptyState>
      <Templates />
    </Stack>
  )
}

/** Another task's definition to begin with; its script is shared until it is changed. */
function CopyOf({ id }: { id: string }) {
  const query = useQuery(taskQuery(id))
  return (
    <QueryResult query={query}>
      {(task) => (
        <NewTaskForm
          first={{ task: { ...task, name: `${task.name} 2` }, source: '', filename: '' }}
          scriptId={task.script_id ?? undefined}
        />
      )}
    </QueryResult>
  )
}

interface Props {
  first: Template
  /** A stored script instead of a new one. */
  scriptId?: string
}

function useNewTask(first: Template, scriptId: string | undefined) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const { host: hostParam } = newTaskRoute.useSearch()
  const { data: hosts } = useQuery(hostNamesQuery)
  const [edits, setEdits] = useState({})
  const [source, setSource] = useState(first.source)
  const [filename, setFilename] = useState(first.filename)
  // One host: no question.
  const only = hostParam ?? (hosts?.length === 1 ? hosts[0]!.id : undefined)
  const base = {
    ...first.task,
    host_id: first.task.host_id ?? only ?? null,
    ...(scriptId ? { script_id: scriptId } : {}),
  }
  const task = { ...base, ...edits }
  const isInline = task.type === 'script' && !scriptId
  const mutation = useMutation({
    mutationFn: () => createTask(task, isInline ? { filename, source } : undefined),
    onSuccess: (task) => {
      client.setQueryData(taskQuery(task.id).queryKey, task)
      void client.invalidateQueries({ queryKey: ['task'] })
      showSuccess(t.created)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && showError(fault),
  })
  // Once the page knows that all is saved, it lets its reader go.
  const taskId = mutation.data?.id
  useEffect(() => {
    if (taskId) go(`/tasks/${taskId}`)
  })
  return {
    task,
    set: (change: object) => setEdits((now) => mergeEdits(base, now, change)),
    source,
    setSource,
    filename,
    setFilename,
    isInline,
    mutation,
    isDirty: Object.keys(edits).length > 0 || source !== first.source,
  }
}

function NewTaskForm({ first, scriptId }: Props) {
  const t = useText()
  const w = useWords()
  const go = useAppNavigate()
  const form = useNewTask(first, scriptId)
  const { task, mutation } = form
  const submit = () => !mutation.isPending && mutation.mutate()
  useKeys({ 'mod+s': submit, 'mod+Enter': submit })
  const props: FormProps = {
    task,
    set: form.set,
    errors: byField(mutation.error),
    readOnly: false,
  }
  const isScript = task.type === 'script'
  return (
    <Form onSubmit={() => submit()}>
      <div className="task-head">
        <Title order={2} size="h4">
          {task.name || t.newTask}
        </Title>
        <Badge size="sm">{t.types[task.type]}</Badge>
        <Group ml="auto" gap={8}>
          <Button variant="default" onClick={() => go('/tasks')}>
            {w.cancel}
          </Button>
          <Button type="submit" loading={mutation.isPending}>
            {t.create}
          </Button>
        </Group>
      </div>
      <div className="task-split">
        <Stack gap={12}>
          <GeneralFields {...props} />
          {isScript ? <NewScript form={form} scriptId={scriptId} /> : <KindFields {...props} />}
        </Stack>
        <Stack gap={12}>
          {isScript || task.type === 'scraper' ? <ExecutionFields {...props} /> : null}
          {task.type === 'notification' ? null : <ArgumentList {...props} />}
          <OptionFields {...props} />
        </Stack>
      </div>
      <UnsavedChanges when={form.isDirty && !mutation.isSuccess} />
    </Form>
  )
}

function NewScript({
  form,
  scriptId,
}: {
  form: ReturnType<typeof useNewTask>
  scriptId: string | undefined
}) {
  const t = useText()
  if (scriptId) return <Stored id={scriptId} />
  return (
    <Stack gap={8}>
      <TextInput
        label={t.filename}
        maw={320}
        required
        value={form.filename}
        onChange={(event) => form.setFilename(event.currentTarget.value)}
      />
      <CodeEditor
        label={t.script}
        height={420}
        value={form.source}
        onChange={form.setSource}
        filename={form.filename}
        runas={form.task.script_runas}
        check
      />
    </Stack>
  )
}

function Stored({ id }: { id: string }) {
  const t = useText()
  const file = useQuery(scriptQuery(id))
  const version = file.data?.version ?? 0
  const content = useQuery({ ...contentQuery(id, version), enabled: version > 0 })
  return (
    <QueryResult query={content}>
      {({ text }) => (
        <CodeEditor
          label={`${t.script}: ${file.data?.filename}`}
          height={420}
          value={text}
          filename={file.data?.filename}
          readOnly
        />
      )}
    </QueryResult>
  )
}
