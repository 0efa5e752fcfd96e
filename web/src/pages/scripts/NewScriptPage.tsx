import { Group, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { byField } from '../../api/errors'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { useAppNavigate } from '../../ui/AppLink'
import { CodeEditor } from '../../ui/editor/CodeEditor'
import { EditForm } from '../../ui/form/EditForm'
import { UnsavedChanges } from '../../ui/form/UnsavedChanges'
import { FormActions } from '../../ui/formPage/FormActions'
import { EmptyState } from '../../ui/layout/EmptyState'
import { showError, showSuccess } from '../../ui/toast'
import { createScript } from './files'
import './scripts.css'
import { useText } from './text'

const FIRST = '#!/bin/bash\nset -euo pipefail\n\n'

export function NewScriptPage() {
  const t = useText()
  usePageTitle(t.newScript)
  const mayEdit = useCan()('script.edit')
  return mayEdit ? <NewScriptForm /> : <EmptyState title={t.adminsEdit} />
}

function NewScriptForm() {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [filename, setFilename] = useState('script.sh')
  const [description, setDescription] = useState('')
  const [source, setSource] = useState(FIRST)
  const create = useMutation({
    mutationFn: () => createScript({ filename, description, source }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['file'] })
      showSuccess(t.created)
    },
    onError: (fault) => Object.keys(byField(fault)).length === 0 && showError(fault),
  })
  // Once everything is saved, the page can be left.
  const scriptId = create.data?.id
  useEffect(() => {
    if (scriptId) go(`/scripts/${scriptId}`)
  })
  const errors = byField(create.error)
  const submit = () => {
    if (!create.isPending) create.mutate()
  }
  return (
    <EditForm onSubmit={submit}>
      <Stack gap={10}>
        <Group align="flex-end" gap={8}>
          <TextInput
            label={t.filename}
            required
            w={{ base: '100%', xs: 240 }}
            value={filename}
            error={errors.filename}
            onChange={(event) => setFilename(event.currentTarget.value)}
          />
          <TextInput
            label={t.description}
            flex={1}
            miw={200}
            value={description}
            error={errors.description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
        </Group>
        <div className="scripts-editor">
          <CodeEditor
            label={t.content}
            value={source}
            onChange={setSource}
            filename={filename}
            check
          />
        </div>
      </Stack>
      <FormActions isNew busy={create.isPending} cancelTo="/scripts" />
      <UnsavedChanges when={source !== FIRST && !create.isSuccess} />
    </EditForm>
  )
}
