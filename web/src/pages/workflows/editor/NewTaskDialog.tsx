import { Anchor, SegmentedControl, Select, TagsInput, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { type Task, taskQuery } from '../../../api/queries/automation/task'
import { hostNamesQuery, MAX_CHOICES } from '../../../api/queries/names'
import { AppLink } from '../../../ui/AppLink'
import { CodeEditor } from '../../../ui/editor/CodeEditor'
import { FormError } from '../../../ui/form/EditForm'
import { FormDialog } from '../../../ui/form/FormDialog'
import type { Runs } from '../../../ui/graph/graphDraft'
import { useText } from '../text'

const LANGUAGES = {
  bash: { filename: 'script.sh', source: '#!/bin/bash\nset -euo pipefail\n\necho "$@"\n' },
  python: {
    filename: 'script.py',
    source:
      '#!/usr/bin/env python3\nimport json\nimport sys\n\n' +
      '# The last line sets the values that the next step gets.\n' +
      'print(json.dumps({"output": sys.argv[1:]}))\n',
  },
} as const
type Language = keyof typeof LANGUAGES

interface Props {
  onClose: () => void
  onCreated: (runs: Runs) => void
}

/** A new script task without leaving the editor; it becomes a step at once. */
export function NewTaskDialog({ onClose, onCreated }: Props) {
  const t = useText()
  const client = useQueryClient()
  const { data: hosts = [] } = useQuery(hostNamesQuery)
  const [name, setName] = useState('')
  const [host, setHost] = useState<string | null>(null)
  const [language, setLanguage] = useState<Language>('bash')
  const [source, setSource] = useState<string>(LANGUAGES.bash.source)
  const [labels, setLabels] = useState<string[]>([])
  const hostId = host ?? (hosts.length === 1 ? hosts[0]!.id : null)
  const create = useMutation({
    mutationFn: () => {
      const body = {
        type: 'script',
        name: name.trim(),
        host_id: hostId,
        script: { filename: LANGUAGES[language].filename, source },
        task_arguments: labels.map((label) => ({ type: 'input', label })),
      }
      return ok<Task>(api.POST('/task', { body } as never))
    },
    onSuccess: (task) => {
      client.setQueryData(taskQuery(task.id).queryKey, task)
      void client.invalidateQueries({ queryKey: ['task'] })
      onCreated({ id: task.id, name: task.name })
    },
  })
  const errors = byField(create.error)
  const choose = (next: Language) => {
    if (source === LANGUAGES[language].source) setSource(LANGUAGES[next].source)
    setLanguage(next)
  }
  return (
    <FormDialog
      size="lg"
      title={t.newTask}
      action={t.createAndAdd}
      busy={create.isPending}
      disabled={!name.trim() || !hostId}
      onClose={onClose}
      onSubmit={() => create.mutate()}
    >
      <TextInput
        data-autofocus
        required
        label={t.nameField}
        value={name}
        error={errors.name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        required
        searchable
        allowDeselect={false}
        label={t.host}
        limit={MAX_CHOICES}
        data={hosts.map(({ id, name }) => ({ value: id, label: name }))}
        value={hostId}
        error={errors.host_id}
        onChange={setHost}
      />
      <TagsInput
        label={t.argumentNames}
        description={t.argumentNamesHelp}
        value={labels}
        error={errors.task_arguments}
        onChange={setLabels}
      />
      <SegmentedControl
        size="xs"
        aria-label={t.language}
        value={language}
        onChange={(value) => choose(value as Language)}
        data={[
          { value: 'bash', label: 'Bash' },
          { value: 'python', label: 'Python' },
        ]}
      />
      <CodeEditor
        label={t.script}
        height={220}
        value={source}
        onChange={setSource}
        filename={LANGUAGES[language].filename}
      />
      <Text size="xs" c="dimmed">
        {t.otherTypes}{' '}
        <Anchor component={AppLink} to="/tasks/new" target="_blank" size="xs">
          {t.otherTypesLink}
        </Anchor>
      </Text>
      <FormError error={create.error} />
    </FormDialog>
  )
}
