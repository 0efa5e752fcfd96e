import { Button, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { PartyPopper } from 'lucide-react'
import { useState } from 'react'
import { type Host, newHostQuery } from '../../../api/queries/monitoring/host'
import { usePageTitle } from '../../../app/title'
import { AppLink } from '../../../ui/AppLink'
import { InstallLine } from '../../../ui/hosts/InstallLine'
import { IfAllowed } from '../../../ui/IfAllowed'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { useText } from '../text'
import '../hosts.css'

/** Makes the line, waits for the machine on which it is run, and is glad. */
export function AddHostPage() {
  const t = useText()
  usePageTitle(t.add)
  const [round, setRound] = useState(0)
  return (
    <IfAllowed action="host.edit">
      <Enrol key={round} onAgain={() => setRound(round + 1)} />
    </IfAllowed>
  )
}

function Enrol({ onAgain }: { onAgain: () => void }) {
  const t = useText()
  const [tokenCreatedAt, setTokenCreatedAt] = useState<string | null>(null)
  const came = useNewHost(tokenCreatedAt)
  if (came)
    return (
      <Paper withBorder role="status">
        <EmptyState icon={PartyPopper} title={t.welcome(came.hostname)}>
          <p>{t.welcomeBody}</p>
          <Group justify="center" gap={8}>
            <Button component={AppLink} to={`/hosts/${came.id}`}>
              {t.open(came.hostname)}
            </Button>
            <Button variant="default" onClick={onAgain}>
              {t.another}
            </Button>
          </Group>
        </EmptyState>
      </Paper>
    )
  return (
    <Paper withBorder p="lg" maw={760}>
      <Stack component="ol" gap="lg" className="host-steps">
        <li>
          <Title order={2} size="h6">
            {t.step1}
          </Title>
          <Text size="sm" c="dimmed" mb={8}>
            {t.step1Body} {t.needsPython}
          </Text>
          <InstallLine onToken={(token) => setTokenCreatedAt(token.creation_date)} />
        </li>
        <li>
          <Title order={2} size="h6">
            {t.step2}
          </Title>
          <Text size="sm" c="dimmed">
            {t.step2Body}
          </Text>
        </li>
        <li>
          <Title order={2} size="h6">
            {t.step3}
          </Title>
          {tokenCreatedAt ? (
            <Group gap={10} role="status">
              <Loader size="xs" />
              <Text size="sm">
                {t.watching} {t.watchingBody}
              </Text>
            </Group>
          ) : (
            <Text size="sm" c="dimmed">
              {t.watchingBody}
            </Text>
          )}
        </li>
      </Stack>
    </Paper>
  )
}

/** The first host that was created after the line was made. */
function useNewHost(tokenCreatedAt: string | null): Host | undefined {
  const { data } = useQuery({
    ...newHostQuery(tokenCreatedAt),
    // Events bring it at once; this is for when they cannot.
    refetchInterval: 5_000,
  })
  return data ?? undefined
}
