import { Stack, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { useCan } from '../../../app/session'
import { useAppNavigate } from '../../../ui/AppLink'
import { DeleteButton, EditForm } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { hasErrorIn, OptionGroup } from '../../../ui/formPage/OptionGroup'
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
  const faults = byField(form.error)
  return (
    <Section title={t.tabs.settings} padded>
      {form.notice}
      <EditForm onSubmit={() => mayEdit && form.submit()}>
        <Stack gap="sm" maw={640}>
          <TextInput
            required
            label={t.nameField}
            disabled={!mayEdit}
            value={values.name}
            error={faults.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <Switch
            label={t.enabled}
            description={t.enabledHelp}
            disabled={!mayEdit}
            checked={values.enable}
            onChange={(event) => set({ enable: event.currentTarget.checked })}
          />
          <OptionGroup
            title={t.groups.about}
            summary={[values.description, ...values.tags].filter(Boolean).join(' · ')}
            hasErrors={hasErrorIn(faults, ['description', 'tags'])}
          >
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
          </OptionGroup>
          <OptionGroup
            title={t.groups.runs}
            summary={values.multitasking ? t.multitasking : t.multitaskingHelp}
            hasErrors={hasErrorIn(faults, ['multitasking'])}
          >
            <Switch
              label={t.multitasking}
              description={t.multitaskingHelp}
              disabled={!mayEdit}
              checked={values.multitasking}
              onChange={(event) => set({ multitasking: event.currentTarget.checked })}
            />
          </OptionGroup>
          <FormActions busy={form.isBusy} disabled={!mayEdit} cancelTo="/workflows">
            {mayEdit ? <Remove workflow={workflow} /> : null}
          </FormActions>
        </Stack>
      </EditForm>
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
