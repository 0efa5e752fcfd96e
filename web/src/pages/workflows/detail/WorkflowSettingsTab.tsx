import { Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { useAppNavigate } from '../../../ui/AppLink'
import { DeleteButton } from '../../../ui/form/EditForm'
import { Form } from '../../../ui/form/Form'
import { FormActions } from '../../../ui/formPage/FormActions'
import { Section } from '../../../ui/layout/Section'
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
          <FormActions busy={form.isBusy} disabled={!mayEdit} cancelTo="/workflows">
            {mayEdit ? <Remove workflow={workflow} /> : null}
          </FormActions>
        </Stack>
      </Form>
    </Section>
  )
}

function Remove({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const remove = async () => {
    await ok(api.DELETE('/workflows/{id}', { params: { path: { id: workflow.id } } }))
    void client.invalidateQueries({ queryKey: ['workflow', 'list'] })
    go('/workflows')
  }
  return (
    <DeleteButton name={workflow.name} onDelete={remove}>
      {t.deleteBody}
    </DeleteButton>
  )
}
