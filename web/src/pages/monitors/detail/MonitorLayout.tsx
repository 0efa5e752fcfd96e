import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff, Pause, Play, Volume2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { hostQuery } from '../../../api/queries/monitoring/host'
import { type Monitor, monitorQuery } from '../../../api/queries/monitoring/monitor'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { monitorLook, monitorStateText } from '../../../lib/state'
import { useAppNavigate } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useMonitoringText } from '../../../ui/monitoring/text'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Duration } from '../../../ui/state/Time'
import { useMonitorActions } from '../actions'
import { DurationMenu } from '../DurationMenu'
import { useText } from '../text'
import '../monitors.css'

type Tab = 'overview' | 'history' | 'settings'
const PATHS: Record<Tab, string> = { overview: '', history: '/history', settings: '/settings' }

/** The head of a monitor's pages: state, actions, tabs. */
export function MonitorLayout({
  id,
  tab,
  children,
}: {
  id: string
  tab: Tab
  children: (monitor: Monitor) => ReactNode
}) {
  const t = useText()
  const go = useAppNavigate()
  const may = useCan()('monitor.edit')
  const query = useQuery(monitorQuery(id))
  usePageTitle(query.data?.name ?? '')
  useKeys(may ? { e: () => go(`/monitors/${id}/settings`) } : {})
  const tabs = (['overview', 'history', 'settings'] as const).filter(
    (name) => name !== 'settings' || may,
  )
  return (
    <QueryResult query={query}>
      {(monitor) => (
        <>
          <Head monitor={monitor} />
          <Tabs
            value={tab}
            className="mon-tabs"
            onChange={(next) => next && go(`/monitors/${id}${PATHS[next as Tab]}`)}
          >
            <Tabs.List aria-label={t.tabs}>
              {tabs.map((name) => (
                <Tabs.Tab key={name} value={name}>
                  {t[name]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value={tab} pt="md">
              {children(monitor)}
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </QueryResult>
  )
}

function Head({ monitor }: { monitor: Monitor }) {
  const kinds = useMonitoringText().kinds
  const may = useCan()('monitor.edit')
  const current = { ...monitor, is_host_down: useIsHostDown(monitor) }
  const parts = [kinds[monitor.type], monitor.hostname, ...monitor.tags.map((tag) => `#${tag}`)]
  return (
    <Stack gap={8} mb="sm">
      <Group gap={12} justify="space-between">
        <Group gap={10} wrap="nowrap" miw={0}>
          <StateIcon look={monitorLook(current)} size={22} />
          <div className="clip">
            <Text fw={600} size="md" role="status">
              {monitorStateText(current)} · <Duration from={monitor.state_since} />
            </Text>
            <Text size="xs" c="dimmed" className="clip">
              {parts.filter(Boolean).join(' · ')}
            </Text>
          </div>
        </Group>
        {may ? <MonitorActions monitor={monitor} /> : null}
      </Group>
      <Quiet monitor={monitor} />
    </Stack>
  )
}

/** Requested only if it matters: the state is unknown while the host is offline. */
function useIsHostDown({ state, host_id: hostId }: Monitor): boolean {
  const { data } = useQuery({
    ...hostQuery(hostId ?? ''),
    enabled: state === 'unknown' && !!hostId,
  })
  return data?.state === 'offline' || data?.state === 'unreachable'
}

function MonitorActions({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const runAction = useMonitorActions()
  const isMuted = !monitor.alerts || monitor.muted_until !== null
  const isPaused = !monitor.enable
  return (
    <Group gap={8}>
      {isMuted ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Volume2 size={14} />}
          onClick={() => void runAction('unmute', [monitor.id])}
        >
          {t.unmute}
        </Button>
      ) : (
        <DurationMenu
          label={t.mute}
          icon={<BellOff size={14} />}
          onPick={(ms) => void runAction('mute', [monitor.id], ms)}
        />
      )}
      {isPaused ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Play size={14} />}
          onClick={() => void runAction('resume', [monitor.id])}
        >
          {t.resume}
        </Button>
      ) : (
        <DurationMenu
          label={t.pause}
          icon={<Pause size={14} />}
          onPick={(ms) => void runAction('pause', [monitor.id], ms)}
        />
      )}
    </Group>
  )
}

/** Shows that notifications or checks are off. */
function Quiet({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const parts = [
    monitor.enable
      ? ''
      : monitor.paused_until
        ? `${t.pausedUntil} ${dateTime(monitor.paused_until)}`
        : t.pausedOpen,
    monitor.alerts
      ? ''
      : monitor.muted_until
        ? `${t.mutedUntil} ${dateTime(monitor.muted_until)}`
        : t.mutedOpen,
  ].filter(Boolean)
  if (parts.length === 0) return null
  return (
    <Alert p="xs" color="yellow" variant="light" icon={<BellOff size={14} />}>
      {parts.join(' · ')}
    </Alert>
  )
}
