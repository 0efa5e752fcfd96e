import { MultiSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { triggersQuery } from '../../../api/queries/automation/task'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { useCan } from '../../../app/session'
import { EditForm } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { Section } from '../../../ui/layout/Section'
import { useText } from '../text'
import { useWorkflowForm } from './useWorkflowForm'

export function WorkflowTriggersTab({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const mayEdit = useCan()('workflow.edit')
  const { data: events = [] } = useQuery(triggersQuery)
  const form = useWorkflowForm(workflow, ({ triggers }) => ({ triggers }))
  const chosen = form.values.triggers
  return (
    <Section title={t.triggers} padded>
      {form.notice}
      <EditForm onSubmit={form.submit}>
        <Stack gap="sm" maw={640}>
          <Text size="sm" c="dimmed">
            {t.triggersHelp}
          </Text>
          <MultiSelect
            searchable
            disabled={!mayEdit}
            aria-label={t.addTrigger}
            placeholder={chosen.length ? '' : t.noTriggers}
            data={events.map((event) => ({
              value: event.id,
              label: `${event.emitter.name}: ${event.name}`,
            }))}
            value={chosen}
            onChange={(triggers) => form.set({ triggers })}
          />
        </Stack>
        <FormActions
          busy={form.isBusy}
          disabled={!mayEdit || !form.isDirty}
          cancelTo="/workflows"
        />
      </EditForm>
    </Section>
  )
}
