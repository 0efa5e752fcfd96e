import { Badge, Button, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { byField } from '../../../api/errors'
import { contentQuery, scriptQuery } from '../../../api/queries/automation/script'
import { type Task, taskQuery } from '../../../api/queries/automation/task'
import { hostNamesQuery } from '../../../api/queries/names'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useAppNavigate } from '../../../ui/AppLink'
import { mergeEdits } from '../../../ui/editConflict/heldVersion'
import { CodeEditor } from '../../../ui/editor/CodeEditor'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { FormActions } from '../../../ui/formPage/FormActions'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useOwnChannels } from '../../../ui/notify/ownRule'
import { newKey, start } from '../../../ui/run/target'
import { showError, showSuccess } from '../../../ui/toast'
import { createTask } from '../draft/saveTask'
import type { FormProps } from '../draft/taskDraft'
import { Templates } from '../list/FirstTask'
import { KindFields } from './KindFields'
import '../tasks.css'
import { Form } from '../../../ui/form/Form'
import { type Template, templateOf } from '../draft/templates'
import { useText } from '../text'
import { TaskFields } from './TaskFields'

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
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t.firstBody}
      </Text>
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
          first={{ task: { ...task, id: '', name: `${task.name} 2` }, source: '', filename: '' }}
          scriptId={task.script_id ?? undefined}
        />
      )}
    </QueryResult>
  )
}

const RUN = 'run'

/** Whether the form was sent by "Create and run". */
function isRunButton(event: FormEvent<HTMLFormElement>): boolean {
  const { submitter } = event.nativeEvent as SubmitEvent
  return submitter instanceof HTMLButtonElement && submitter.value === RUN
}

/** The task exists all the same: its page opens. */
function reportError(error: Error): undefined {
  showError(error)
}

/** Runs a new task at once, or opens the dialog that asks for its arguments. */
async function runOnce(task: Task): Promise<{ run?: boolean; job?: string }> {
  if (task.task_arguments.some(({ type }) => type !== 'fixed')) return { run: true }
  const target = { kind: 'task' as const, id: task.id, name: task.name }
  return { job: (await start(target, null, newKey())).id }
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
  const own = useOwnChannels()
  const isInline = task.type === 'script' && !scriptId
  const mutation = useMutation({
    mutationFn: async ({ isRun }: { isRun: boolean }) => {
      const created = await createTask(task, isInline ? { filename, source } : undefined)
      await own.save(created.id, t.ruleName(created.name)).catch(showError)
      return { created, search: isRun ? await runOnce(created).catch(reportError) : undefined }
    },
    onSuccess: ({ created: task }) => {
      client.setQueryData(taskQuery(task.id).queryKey, task)
      void client.invalidateQueries({ queryKey: ['task'] })
      showSuccess(t.created)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && showError(fault),
  })
  // Once everything is saved, the page can be left.
  const { data } = mutation
  useEffect(() => {
    if (data) go(`/tasks/${data.created.id}`, data.search)
  })
  return {
    task,
    set: (change: object) => setEdits((now) => mergeEdits(base, now, change)),
    source,
    setSource,
    filename,
    setFilename,
    isInline,
    own,
    mutation,
    isDirty: Object.keys(edits).length > 0 || source !== first.source,
  }
}

function NewTaskForm({ first, scriptId }: Props) {
  const t = useText()
  const form = useNewTask(first, scriptId)
  const { task, mutation } = form
  const submit = (isRun: boolean) => {
    if (!mutation.isPending) mutation.mutate({ isRun })
  }
  const create = () => submit(false)
  useKeys({ 'mod+s': create, 'mod+Enter': create })
  const props: FormProps = {
    task,
    set: form.set,
    errors: byField(mutation.error),
    readOnly: false,
  }
  const isScript = task.type === 'script'
  return (
    <Form onSubmit={(event) => submit(isRunButton(event))}>
      <div className="task-head">
        <Title order={2} size="h4">
          {task.name || t.newTask}
        </Title>
        <Badge size="sm">{t.types[task.type]}</Badge>
      </div>
      <TaskFields
        {...props}
        own={form.own}
        main={isScript ? <NewScript form={form} scriptId={scriptId} /> : <KindFields {...props} />}
      />
      <FormActions isNew busy={mutation.isPending} cancelTo="/tasks">
        <Button type="submit" variant="default" value={RUN} leftSection={<Play size={14} />}>
          {t.createAndRun}
        </Button>
      </FormActions>
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
  if (scriptId) return <StoredScript id={scriptId} />
  return (
    <Stack gap={8}>
      <TextInput
        label={t.filename}
        maw={{ base: 'none', xs: 320 }}
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

function StoredScript({ id }: { id: string }) {
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
