import { Button, Group, Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { useAppNavigate } from '../../../ui/AppLink'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { Form } from '../../../ui/form/Form'
import { Section } from '../../../ui/layout/Section'
import { useWords } from '../../../ui/text'
import { showError } from '../../../ui/toast'
import { useText } from '../text'
import { useWorkflowForm } from './useWorkflowForm'

const settingsOf = ({ name, description, tags, enable, multitasking }: Workflow) => ({
  name,
  description,
  tags,
  enable,
  multitasking,
})

export function WorkflowSettingsTab({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const w = useWords()
  const mayEdit = useCan()('workflow.edit')
  const form = useWorkflowForm(workflow, settingsOf)
  const { values, set } = form
  useKeys(mayEdit ? { 'mod+s': () => form.submit() } : {})
  const faults = byField(form.error)
  return (
    <Section title={t.tabs.settings} padded>
      {form.notice}
      <Form onSubmit={() => form.submit()}>
        <Stack gap="sm" maw={640}>
          <TextInput
            required
            label={t.nameField}
            disabled={!mayEdit}
            value={values.name}
            error={faults.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Textarea
            autosize
            minRows={2}
            label={t.descriptionField}
            disabled={!mayEdit}
            value={values.description}
            onChange={(event) => set({ description: event.currentTarget.value })}
          />
          <TagsInput
            label={t.tags}
            disabled={!mayEdit}
            value={values.tags}
            onChange={(next) => set({ tags: next })}
          />
          <Switch
            label={t.enabled}
            description={t.enabledHelp}
            disabled={!mayEdit}
            checked={values.enable}
            onChange={(event) => set({ enable: event.currentTarget.checked })}
          />
          <Switch
            label={t.multitasking}
            description={t.multitaskingHelp}
            disabled={!mayEdit}
            checked={values.multitasking}
            onChange={(event) => set({ multitasking: event.currentTarget.checked })}
          />
          <Group>
            <Button type="submit" disabled={!mayEdit} loading={form.isBusy}>
              {w.save}
            </Button>
            {mayEdit ? <Remove workflow={workflow} /> : null}
          </Group>
        </Stack>
      </Form>
    </Section>
  )
}

function Remove({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const w = useWords()
  const go = useAppNavigate()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () => ok(api.DELETE('/workflows/{id}', { params: { path: { id: workflow.id } } })),
    onError: showError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['workflow', 'list'] })
      go('/workflows')
    },
  })
  return (
    <>
      <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsking(true)}>
        {t.deleteIt}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={w.reallyDelete(workflow.name)}
        action={t.deleteIt}
        busy={remove.isPending}
        onClose={() => setAsking(false)}
        onConfirm={remove.mutate}
      >
        {t.deleteBody}
      </ConfirmDialog>
    </>
  )
}
