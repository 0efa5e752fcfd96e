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
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { Bell as BellIcon, CircleHelp, Moon, Plus, Search, Sun } from 'lucide-react'
import { ROOT } from '../../api/client'
import { useConnectionState } from '../../api/live'
import { countsQuery } from '../../api/queries/counts'
import { setPrefs } from '../../lib/prefs'
import { AppLink, useAppNavigate } from '../../ui/AppLink'
import { useNow } from '../../ui/state/Time'
import { helpAddress } from '../help'
import { CREATE } from '../pages'
import { isAllowed } from '../permissions'
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
        <Help />
        <Bell />
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

function Help() {
  const t = useText()
  const path = useLocation({ select: (location) => location.pathname })
  return (
    <Tooltip label={t.documentation}>
      <ActionIcon
        component="a"
        href={helpAddress(ROOT, path)}
        target="_blank"
        rel="noreferrer"
        aria-label={t.documentation}
      >
        <CircleHelp size={16} />
      </ActionIcon>
    </Tooltip>
  )
}

/** News: unread alerts, and tasks that wait for this person. */
function Bell() {
  const t = useText()
  const { data } = useQuery(countsQuery)
  const total = (data?.unread ?? 0) + (data?.needs ?? 0)
  return (
    <ActionIcon
      component={AppLink}
      to="/inbox"
      className="bell"
      aria-label={total ? t.unread(total) : t.notifications}
    >
      <BellIcon size={16} />
      {total ? <span className="bell-count num">{total > 99 ? '99+' : total}</span> : null}
    </ActionIcon>
  )
}

function Scheme() {
  const t = useText()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <ActionIcon
      // A phone needs the space for the name of the page; the palette and the settings change it
      // too.
      className="hide-sm"
      aria-label={t.theme}
      onClick={() => setPrefs({ scheme: isDark ? 'light' : 'dark' })}
    >
      {isDark ? <Sun size={16} /> : <Moon size={16} />}
    </ActionIcon>
  )
}

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
