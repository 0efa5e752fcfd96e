import { ActionIcon, Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { api, ok } from '../../api/client'
import { subscribersQuery } from '../../api/queries/monitoring/statusPage'
import { QueryResult } from '../../ui/layout/QueryResult'
import { showError } from '../../ui/toast'
import { useText } from './text'

/** Who gets mails about incidents. */
export function Subscribers({ pageId }: { pageId: string }) {
  const t = useText()
  const client = useQueryClient()
  const query = useQuery(subscribersQuery(pageId))
  const remove = useMutation({
    mutationFn: (id: string) =>
      ok(
        api.DELETE('/statuspage/{id}/subscriber/{subscriber_id}', {
          params: { path: { id: pageId, subscriber_id: id } },
        }),
      ),
    onError: showError,
    onSettled: () => client.invalidateQueries({ queryKey: ['statuspage', pageId] }),
  })
  return (
    <Paper withBorder p="md" className="status-edit" component="section" aria-label={t.subscribers}>
      <Stack gap="sm">
        <Title order={2} size="h6">
          {t.subscribers}
        </Title>
        <QueryResult query={query}>
          {(people) =>
            people.length === 0 ? (
              <Text size="sm" c="dimmed">
                {t.noSubscribers}
              </Text>
            ) : (
              people.map((person) => (
                <Group gap={8} key={person.id} wrap="nowrap">
                  <Text size="sm" className="clip">
                    {person.email}
                  </Text>
                  {person.confirmed ? null : <Badge>{t.unconfirmed}</Badge>}
                  <ActionIcon
                    ml="auto"
                    aria-label={t.removeSubscriber(person.email)}
                    onClick={() => remove.mutate(person.id)}
                  >
                    <X size={14} />
                  </ActionIcon>
                </Group>
              ))
            )
          }
        </QueryResult>
      </Stack>
    </Paper>
  )
}
