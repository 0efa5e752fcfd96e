import { Button, Group, MultiSelect, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { startersQuery } from '../../api/queries/task'
import { type Workflow, workflowQuery } from '../../api/queries/workflow'
import { useCan } from '../../app/session'
import { Section } from '../../ui/Section'
import { useWords } from '../../ui/text'
import { done, failed } from '../../ui/toast'
import { useText } from './text'

export function TriggersTab({ workflow }: { workflow: Workflow }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const mayEdit = useCan()('workflow.edit')
  const { data: events = [] } = useQuery(startersQuery)
  const [chosen, setChosen] = useState(workflow.triggers)
  const save = useMutation({
    mutationFn: () =>
      ok(
        api.PATCH('/workflows/{id}', {
          params: { path: { id: workflow.id } },
          headers: { 'If-Match': String(workflow.version) },
          body: {
            triggers: chosen,
          },
        }),
      ),
    onError: failed,
    onSuccess: (next) => {
      client.setQueryData(workflowQuery(workflow.id).queryKey, next)
      done(t.saved)
    },
  })
  const isChanged = chosen.join() !== workflow.triggers.join()
  return (
    <Section title={t.triggers} padded>
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
          onChange={setChosen}
        />
        <Group>
          <Button
            disabled={!mayEdit || !isChanged}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {w.save}
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}
