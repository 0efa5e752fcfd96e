import { Button, Group, Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Shape } from '../../../api/client'
import { countsQuery } from '../../../api/queries/counts'
import { fewHostsQuery, type HostLine } from '../../../api/queries/monitoring/host'
import { AppLink } from '../../../ui/AppLink'
import { hostLook, hostStateText } from '../../../ui/hosts/hostState'
import { UsageBars } from '../../../ui/hosts/UsageBars'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useText } from '../text'
import { OverviewMore } from './OverviewRest'

export const SHOWN_HOSTS = 6

export function HostsCard() {
  const t = useText()
  const { data } = useQuery(fewHostsQuery(SHOWN_HOSTS))
  const { data: counts } = useQuery(countsQuery)
  if (!data?.rows.length) return null
  return (
    <Paper withBorder component="section" aria-label={t.hosts}>
      <Group className="head" wrap="nowrap">
        <Title order={2} size="h6">
          {t.hosts}
        </Title>
        <Text size="xs" c="dimmed" className="clip">
          {counts ? summary(counts.hosts, t) : null}
        </Text>
        <Button
          component={AppLink}
          to="/hosts"
          ml="auto"
          size="compact-xs"
          variant="subtle"
          color="gray"
          className="dash-link"
        >
          {t.allHosts}
        </Button>
      </Group>
      {data.rows.map((host) => (
        <Row key={host.id} host={host} />
      ))}
      <OverviewMore of={data} to="/hosts" />
    </Paper>
  )
}

type Counts = Shape<'HostCounts'>

/** Offline hosts come first. */
function summary({ online, offline, unreachable }: Counts, t: ReturnType<typeof useText>): string {
  const silent = offline + unreachable
  return [silent && t.notReporting(silent), t.online(online)].filter(Boolean).join(' · ')
}

function Row({ host }: { host: HostLine }) {
  const t = useText()
  const word = hostStateText(host)
  return (
    <AppLink to={`/hosts/${host.id}`} className="row dash-host">
      <StateIcon look={hostLook(host)} title={word} />
      <div className="clip">
        <Text size="sm" fw={550} className="clip">
          {host.hostname}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {word}
          {host.state === 'online' ? (
            host.running ? (
              ` · ${t.running1(host.running)}`
            ) : null
          ) : (
            <>
              {` · ${host.last_seen ? t.lastSeen : t.neverConnected} `}
              {host.last_seen ? <Ago at={host.last_seen} /> : null}
            </>
          )}
        </Text>
      </div>
      <div className="hide-sm">
        <UsageBars cpu={host.cpu} mem={host.mem} disk={host.disk} />
      </div>
    </AppLink>
  )
}
