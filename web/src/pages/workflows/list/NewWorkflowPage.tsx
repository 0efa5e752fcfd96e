import { Alert, MultiSelect, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { choiceOf, MAX_CHOICES, type ObjectName, taskNamesQuery } from '../../../api/queries/names'
import { usePageTitle } from '../../../app/title'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { EditForm } from '../../../ui/form/EditForm'
import { FormActions } from '../../../ui/formPage/FormActions'
import { type Draft, withEdge, withNode } from '../../../ui/graph/graphDraft'
import { IfAllowed } from '../../../ui/IfAllowed'
import { showError } from '../../../ui/toast'
import { useText } from '../text'

/** Tasks one after the other: the simplest graph, to be changed in the editor. */
function chain(tasks: ObjectName[]): Draft {
  return tasks.reduce<Draft>(
    (draft, task) => {
      const next = withNode(draft, task)
      const before = draft.nodes[draft.nodes.length - 1]
      const added = next.nodes[next.nodes.length - 1]!
      return before ? withEdge(next, { source: before.id, target: added.id, on: 'success' }) : next
    },
    { start: '', nodes: [], edges: [] },
  )
}

export function NewWorkflowPage() {
  usePageTitle(useText().newTitle)
  return (
    <IfAllowed action="workflow.edit">
      <NewWorkflowForm />
    </IfAllowed>
  )
}

function NewWorkflowForm() {
  const t = useText()
  const go = useAppNavigate()
  const client = useQueryClient()
  const { data: tasks } = useQuery(taskNamesQuery)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string[]>([])
  const make = useMutation({
    mutationFn: () => {
      const { start, nodes, edges } = chain(
        chosen.map((id) => tasks!.find((task) => task.id === id)!),
      )
      return ok(api.POST('/workflows', { body: { name, start, graph: { nodes, edges } } }))
    },
    onError: showError,
    onSuccess: (workflow) => {
      void client.invalidateQueries({ queryKey: ['workflow', 'list'] })
      go(`/workflows/${workflow.id}/graph`, { edit: true })
    },
  })
  const faults = byField(make.error)
  return (
    <Paper withBorder p="md" maw={640}>
      <EditForm onSubmit={() => make.mutate()}>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t.newBody}
          </Text>
          {tasks?.length === 0 ? (
            <Alert color="yellow">
              {t.noTasks} <AppLink to="/tasks/new">{t.newTask}</AppLink>
            </Alert>
          ) : null}
          <TextInput
            required
            autoFocus
            label={t.nameField}
            value={name}
            error={faults.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <MultiSelect
            required
            searchable
            label={t.firstTasks}
            limit={MAX_CHOICES}
            data={(tasks ?? []).map(choiceOf)}
            value={chosen}
            onChange={setChosen}
          />
          <FormActions
            isNew
            busy={make.isPending}
            disabled={!chosen.length}
            cancelTo="/workflows"
          />
        </Stack>
      </EditForm>
    </Paper>
  )
}
