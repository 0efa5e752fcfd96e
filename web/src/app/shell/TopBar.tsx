import {
  ActionIcon,
  Button,
  Group,
  Kbd,
  Menu,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
} from '@mantine/core'
import { Moon, Plus, Search, Sun } from 'lucide-react'
import { useConnectionState } from '../../api/live'
import { setPrefs } from '../../lib/prefs'
import { useAppNavigate } from '../../ui/AppLink'
import { useNow } from '../../ui/state/Time'
import { type Action, isAllowed } from '../permissions'
import { useProfile } from '../session'
import { useText } from '../text'
import { openPalette } from './openPalette'

export function TopBar() {
  const t = useText()
  return (
    <>
      <UnstyledButton className="search" onClick={openPalette} aria-label={`${t.search} Ctrl K`}>
        <Search size={14} aria-hidden="true" />
        <span>{t.search}</span>
        <Kbd size="xs">Ctrl K</Kbd>
      </UnstyledButton>
      <Group gap={6} ml="auto" wrap="nowrap">
        <LinkState />
        <Scheme />
        <Create />
      </Group>
    </>
  )
}

function LinkState() {
  const t = useText()
  const { link, next } = useConnectionState()
  const now = useNow()
  const wait = Math.max(0, Math.ceil((next - now) / 1000))
  const more = link === 'connecting' || link === 'offline' ? ` · ${t.trying(wait)}` : ''
  return (
    <Tooltip label={t[`${link}Long`] + more}>
      <div className="link-state" data-link={link} role="status" aria-label={t[link]}>
        <i className="dot" />
        <span>{t[link]}</span>
      </div>
    </Tooltip>
  )
}

function Scheme() {
  const t = useText()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <ActionIcon
      aria-label={t.theme}
      onClick={() => setPrefs({ scheme: isDark ? 'light' : 'dark' })}
    >
      {isDark ? <Sun size={16} /> : <Moon size={16} />}
    </ActionIcon>
  )
}

const CREATE = [
  ['newTask', '/tasks/new', 'task.edit'],
  ['newWorkflow', '/workflows/new', 'workflow.edit'],
  ['newMonitor', '/monitors/new', 'monitor.edit'],
  ['newHost', '/hosts/add', 'host.edit'],
  ['newSchedule', '/schedules/new', 'schedule.edit'],
  ['newWebhook', '/webhooks/new', 'webhook.edit'],
  ['newScript', '/scripts/new', 'script.edit'],
  ['newIndicator', '/indicators/new', 'indicator.edit'],
] as const satisfies [string, string, Action][]

function Create() {
  const t = useText()
  const go = useAppNavigate()
  const { credential } = useProfile()
  const entries = CREATE.filter(([, , action]) => isAllowed(credential, action))
  if (entries.length === 0) return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button className="create" aria-label={t.create} leftSection={<Plus size={14} />}>
          {t.create}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {entries.map(([word, to]) => (
          <Menu.Item key={to} onClick={() => go(to)}>
            {t[word]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
