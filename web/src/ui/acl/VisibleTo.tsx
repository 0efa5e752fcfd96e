import { Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../../api/queries/access'
import { QueryResult } from '../layout/QueryResult'
import { useText } from './text'
import { type AclObject, type Viewer, viewersOf } from './visibility'

/** Everyone who sees it now, and why. */
export function VisibleTo({ object, acl }: { object: AclObject; acl: string[] }) {
  const t = useText()
  const query = useQuery(membersQuery)
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        {t.who}
      </Title>
      <QueryResult query={query} lines={3}>
        {(members) => (
          <Stack gap={2} component="ul" m={0} p={0} className="acl-seers">
            {viewersOf(object, acl, members).map((viewer) => (
              <Line key={viewer.id} viewer={viewer} />
            ))}
          </Stack>
        )}
      </QueryResult>
    </Stack>
  )
}

function Line({ viewer }: { viewer: Viewer }) {
  const t = useText()
  const { kind, word } = viewer.why
  const because = t.because[kind]
  const why = typeof because === 'function' ? because(word) : because
  return (
    <Group
      component="li"
      justify="space-between"
      gap={8}
      wrap="nowrap"
      style={{ listStyle: 'none' }}
    >
      <div style={{ minWidth: 0 }}>
        <Text size="sm" className="clip">
          {viewer.name}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {viewer.email}
        </Text>
      </div>
      <Text size="xs" ta="right">
        {viewer.mayRun ? t.mayRun : t.maySee}, {why}
      </Text>
    </Group>
  )
}
