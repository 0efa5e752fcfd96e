import { Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { byField, isStale } from '../../api/errors'
import type { Secret } from '../../api/queries/automation/secret'
import { MAX_CHOICES, taskNamesQuery } from '../../api/queries/names'
import { FormDialog } from '../../ui/form/FormDialog'
import { SecretArea } from '../../ui/form/SecretArea'
import { useWords } from '../../ui/text'
import { showError, showSuccess } from '../../ui/toast'
import { useText } from './text'

interface Props {
  /** A secret whose value is replaced; its name and its task stay. */
  old?: Secret
  taskId?: string
  onClose: () => void
}

/** Sets a secret or a variable. The value leaves the page with the request and is not kept. */
export function SecretForm({ old, taskId, onClose }: Props) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [name, setName] = useState(old?.name ?? '')
  const [value, setValue] = useState('')
  const [isSecret, setSecret] = useState(old?.secret ?? true)
  const [task, setTask] = useState(old?.task_id ?? taskId ?? '')
  const [description, setDescription] = useState(old?.description ?? '')
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PUT('/secret/{name}', {
          params: { path: { name: name.trim() } },
          // Version 0: the secret must not exist yet.
          headers: { 'if-match': String(old?.version ?? 0) },
          body: { value, secret: isSecret, task_id: task || null, description },
        } as never),
      ),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['secret'] })
      showSuccess(t.saved)
      onClose()
    },
    onError: (fault) => Object.keys(errorsOf(fault)).length === 0 && showError(fault),
  })
  const errorsOf = (fault: unknown): Record<string, string> =>
    !old && isStale(fault) ? { name: t.exists } : byField(fault)
  const errors = errorsOf(save.error)
  const submit = () => !save.isPending && name.trim() && save.mutate()
  return (
    <FormDialog
      title={old ? t.change(old.name) : t.set}
      action={old ? w.save : w.create}
      busy={save.isPending}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextInput
        label={t.name}
        description={t.nameHint}
        classNames={{ input: 'mono' }}
        required
        readOnly={!!old}
        data-autofocus={old ? undefined : true}
        value={name}
        error={errors.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Scope value={task} onChange={setTask} readOnly={!!old} />
      <Switch
        label={t.kind}
        checked={isSecret}
        onChange={(event) => setSecret(event.currentTarget.checked)}
      />
      {isSecret ? (
        <SecretArea
          label={t.value}
          description={t.valueHint}
          required
          data-autofocus={old ? true : undefined}
          value={value}
          error={errors.value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      ) : (
        <Textarea
          label={t.value}
          description={t.variableHint}
          autosize
          minRows={1}
          maxRows={8}
          value={value}
          error={errors.value}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      )}
      <TextInput
        label={t.description}
        value={description}
        error={errors.description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

interface ScopeProps {
  value: string
  onChange: (value: string) => void
  readOnly: boolean
}

function Scope({ value, onChange, readOnly }: ScopeProps) {
  const t = useText()
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const scripts = tasks.filter((task) => task.state === 'script')
  return (
    <Select
      label={t.scope}
      searchable
      limit={MAX_CHOICES}
      allowDeselect={false}
      readOnly={readOnly}
      value={value || 'all'}
      onChange={(next) => onChange(next === 'all' ? '' : (next ?? ''))}
      data={[
        { value: 'all', label: t.all },
        ...scripts.map((script) => ({
          value: script.id,
          label: `${script.name}, ${script.detail}`,
        })),
      ]}
    />
  )
}
