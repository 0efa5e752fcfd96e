import { Alert, Badge, Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Terminal } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { type Host, hostQuery, hostWarningsQuery } from '../../../api/queries/monitoring/host'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { hostLook, hostStateText } from '../../../ui/hosts/hostState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { useText } from '../text'
import { HostJobs, HostMonitors, HostTasks } from './HostCards'
import { HostMenu } from './HostMenu'
import { HostStatistics } from './HostStatistics'
import { HostWarnings } from './HostWarnings'
import '../hosts.css'

const hostRoute = getRouteApi('/$customer/hosts/$id')

const ExecDialog = lazy(() =>
  import('./ExecDialog').then((module) => ({ default: module.ExecDialog })),
)

export function HostPage() {
  const { id } = hostRoute.useParams()
  const query = useQuery(hostQuery(id))
  usePageTitle(query.data?.hostname ?? '')
  return (
    <QueryResult query={query}>
      {(host) => (
        <Stack gap="md">
          <Head host={host} />
          <div className="host-cols">
            <Stack gap="md">
              <HostStatistics host={host} />
              <HostMonitors host={host} />
            </Stack>
            <Stack gap="md">
              <Facts host={host} />
              <HostTasks host={host} />
              <HostJobs host={host} />
            </Stack>
          </div>
        </Stack>
      )}
    </QueryResult>
  )
}

function Head({ host }: { host: Host }) {
  const t = useText()
  const may = useCan()
  const [opened, { open, close }] = useDisclosure()
  const { data: warnings = [] } = useQuery(hostWarningsQuery(host.id))
  const isOffline = host.enable && host.state !== 'online' && !host.draining
  return (
    <>
      <Group justify="space-between">
        <Group gap={10} wrap="nowrap" miw={0}>
          <StateIcon look={hostLook(host)} size={22} />
          <div className="clip">
            <Text fw={600} size="md" role="status">
              {hostStateText(host)}
            </Text>
            <Text size="xs" c="dimmed" component="div">
              {host.last_seen ? (
                <>
                  {t.lastSeen} <Ago at={host.last_seen} />
                </>
              ) : (
                t.neverConnected
              )}
            </Text>
          </div>
          {host.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </Group>
        <Group gap={8}>
          {may('host.exec') ? (
            <Button variant="default" leftSection={<Terminal size={14} />} onClick={open}>
              {t.command}
            </Button>
          ) : null}
          {may('host.edit') ? <HostMenu host={host} away /> : null}
        </Group>
      </Group>
      {isOffline ? (
        <Alert p="xs" color="yellow" variant="light">
          {host.last_seen ? (
            <>
              {t.silentSince} {dateTime(host.last_seen)}.
            </>
          ) : (
            t.neverSeen
          )}{' '}
          {t.offlineBody}
        </Alert>
      ) : null}
      {host.disk_full_since ? (
        <Alert p="xs" color="yellow" variant="light">
          {t.diskFullSince} {dateTime(host.disk_full_since)}. {host.disk_message}
        </Alert>
      ) : null}
      {host.update_failed_since ? (
        <Alert p="xs" color="yellow" variant="light">
          {t.updateFailedSince} {dateTime(host.update_failed_since)}. {host.update_error}
        </Alert>
      ) : null}
      <HostWarnings hostId={host.id} warnings={warnings} />
      <Suspense>{opened ? <ExecDialog hosts={[host.hostname]} onClose={close} /> : null}</Suspense>
    </>
  )
}

function Facts({ host }: { host: Host }) {
  const t = useText()
  const rows: [string, string][] = [
    [t.address, host.ip],
    [t.system, [host.os_name, host.os_version].filter(Boolean).join(' ')],
    [t.agent, host.agent_version],
    [t.slots, String(host.slots)],
    [t.since, dateTime(host.creation_date, { dateStyle: 'medium' })],
  ]
  return (
    <Paper withBorder>
      <dl className="host-facts">
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value || '—'}</dd>
          </div>
        ))}
      </dl>
    </Paper>
  )
}
