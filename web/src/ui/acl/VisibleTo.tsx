import { Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../../api/queries/access'
import { Loaded } from '../layout/QueryResult'
import { useText } from './text'
import { type Guarded, type Seer, seers } from './visibility'

/** Everybody who sees it now, and why. */
export function Seers({ object, acl }: { object: Guarded; acl: string[] }) {
  const t = useText()
  const query = useQuery(membersQuery)
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        {t.who}
      </Title>
      <Loaded query={query} lines={3}>
        {(members) => (
          <Stack gap={2} component="ul" m={0} p={0} className="acl-seers">
            {seers(object, acl, members).map((one) => (
              <Line key={one.id} seer={one} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Stack>
  )
}

function Line({ seer }: { seer: Seer }) {
  const t = useText()
  const { kind, word } = seer.why
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
          {seer.name}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {seer.email}
        </Text>
      </div>
      <Text size="xs" ta="right">
        {seer.mayRun ? t.mayRun : t.maySee}, {why}
      </Text>
    </Group>
  )
}
