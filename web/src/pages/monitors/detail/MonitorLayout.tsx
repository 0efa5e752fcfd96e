import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff, Pause, Play, Volume2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { type Monitor, monitorQuery } from '../../../api/queries/monitoring/monitor'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { dateTime } from '../../../lib/format'
import { watchLook, watchWord } from '../../../lib/state'
import { useGo } from '../../../ui/AppLink'
import { Loaded } from '../../../ui/layout/QueryResult'
import { useWatchWords } from '../../../ui/monitoring/text'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Lasting } from '../../../ui/state/Time'
import { useMonitorActs } from '../actions'
import { LastingMenu } from '../DurationMenu'
import { useText } from '../text'
import '../monitors.css'

type Tab = 'overview' | 'history' | 'settings'
const PATHS: Record<Tab, string> = { overview: '', history: '/history', settings: '/settings' }

/** The head of a monitor's pages: how it is, what can be done, the parts. */
export function Frame({
  id,
  tab,
  children,
}: {
  id: string
  tab: Tab
  children: (monitor: Monitor) => ReactNode
}) {
  const t = useText()
  const go = useGo()
  const may = useCan()('monitor.edit')
  const query = useQuery(monitorQuery(id))
  usePageTitle(query.data?.name ?? '')
  useKeys(may ? { e: () => go(`/monitors/${id}/settings`) } : {})
  const tabs = (['overview', 'history', 'settings'] as const).filter(
    (one) => one !== 'settings' || may,
  )
  return (
    <Loaded query={query}>
      {(monitor) => (
        <>
          <Head monitor={monitor} />
          <Tabs
            value={tab}
            className="mon-tabs"
            onChange={(next) => next && go(`/monitors/${id}${PATHS[next as Tab]}`)}
          >
            <Tabs.List aria-label={t.tabs}>
              {tabs.map((one) => (
                <Tabs.Tab key={one} value={one}>
                  {t[one]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value={tab} pt="md">
              {children(monitor)}
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Loaded>
  )
}

function Head({ monitor }: { monitor: Monitor }) {
  const kinds = useWatchWords().kinds
  const may = useCan()('monitor.edit')
  const parts = [kinds[monitor.type], monitor.hostname, ...monitor.tags.map((tag) => `#${tag}`)]
  return (
    <Stack gap={8} mb="sm">
      <Group gap={12} justify="space-between">
        <Group gap={10} wrap="nowrap" miw={0}>
          <StateIcon look={watchLook(monitor)} size={22} />
          <div className="clip">
            <Text fw={600} size="md" role="status">
              {watchWord(monitor)} · <Lasting from={monitor.state_since} />
            </Text>
            <Text size="xs" c="dimmed" className="clip">
              {parts.filter(Boolean).join(' · ')}
            </Text>
          </div>
        </Group>
        {may ? <Acts monitor={monitor} /> : null}
      </Group>
      <Quiet monitor={monitor} />
    </Stack>
  )
}

function Acts({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const act = useMonitorActs()
  const isMuted = !monitor.alerts || monitor.muted_until !== null
  const isPaused = !monitor.enable
  return (
    <Group gap={8}>
      {isMuted ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Volume2 size={14} />}
          onClick={() => void act('unmute', [monitor.id])}
        >
          {t.unmute}
        </Button>
      ) : (
        <LastingMenu
          label={t.mute}
          icon={<BellOff size={14} />}
          onPick={(ms) => void act('mute', [monitor.id], ms)}
        />
      )}
      {isPaused ? (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Play size={14} />}
          onClick={() => void act('resume', [monitor.id])}
        >
          {t.resume}
        </Button>
      ) : (
        <LastingMenu
          label={t.pause}
          icon={<Pause size={14} />}
          onPick={(ms) => void act('pause', [monitor.id], ms)}
        />
      )}
    </Group>
  )
}

/** Says so when nobody is told, or nobody looks. */
function Quiet({ monitor }: { monitor: Monitor }) {
  const t = useText()
  const said = [
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
  if (said.length === 0) return null
  return (
    <Alert p="xs" color="yellow" variant="light" icon={<BellOff size={14} />}>
      {said.join(' · ')}
    </Alert>
  )
}
