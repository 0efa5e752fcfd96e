import {
  AppShell,
  Badge,
  Box,
  Menu,
  NavLink,
  Text,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { ChevronsUpDown, LogOut, Palette, ShieldCheck } from 'lucide-react'
import { alarmCount, countsQuery } from '../../api/queries/counts'
import { AppLink, useAppNavigate, useAppPath } from '../../ui/AppLink'
import { Initials } from '../../ui/layout/Initials'
import { signOut, switchTo } from '../logout'
import { GROUPS, type Page, useNavTitles } from '../pages'
import { hasLevel } from '../permissions'
import { useProfile } from '../session'
import { useText } from '../text'
import { useTitleAlarm } from '../title'

export function Nav({ onClose }: { onClose: () => void }) {
  const t = useText()
  const { credential } = useProfile()
  return (
    <>
      <Organization />
      <AppShell.Section grow mt={8} style={{ overflowY: 'auto', scrollbarWidth: 'thin' }}>
        {GROUPS.map((group) => (
          <Box key={group.word} component="nav" aria-label={t[group.word]} mb={10}>
            {group.word === 'main' ? null : <Text className="nav-group">{t[group.word]}</Text>}
            {group.pages
              .filter((page) => !page.level || hasLevel(credential, page.level))
              .map((page) => (
                <Entry key={page.name} page={page} onClick={onClose} />
              ))}
          </Box>
        ))}
      </AppShell.Section>
      <Person />
    </>
  )
}

function Entry({ page, onClick }: { page: Page; onClick: () => void }) {
  const navTitles = useNavTitles()
  const place = useAppPath()
  const path = useLocation({ select: (location) => location.pathname })
  const here = place(page.to)
  const isHere =
    page.to === '/' ? path.replace(/\/$/, '') === here : `${path}/`.startsWith(`${here}/`)
  const badge = useBadge(page.name)
  return (
    <NavLink
      component={AppLink}
      to={page.to}
      onClick={onClick}
      label={navTitles[page.name]}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      leftSection={<page.icon size={16} strokeWidth={1.7} aria-hidden="true" />}
      rightSection={
        badge ? (
          <Badge size="sm" className={`badge-${badge.look}`}>
            {badge.n}
          </Badge>
        ) : null
      }
    />
  )
}

function useBadge(name: string): { n: number; look: string } | null {
  const { data } = useQuery(countsQuery)
  if (!data) return null
  const badges = {
    monitors: [data.monitors.failure + data.monitors.updates_stopped, 'fail'],
    hosts: [data.hosts.down, 'fail'],
    inbox: [data.needs + data.unread, data.needs ? 'wait' : 'run'],
    jobs: [data.jobs.running, 'run'],
  }[name] as [number, string] | undefined
  return badges?.[0] ? { n: badges[0], look: badges[1] } : null
}

function Organization() {
  const t = useText()
  const { current_customer: here, customers } = useProfile()
  const { data } = useQuery(countsQuery)
  useTitleAlarm(alarmCount(data))
  return (
    <Menu width={200} position="bottom-start">
      <Menu.Target>
        <UnstyledButton className="org" aria-label={`${here.name}: ${t.switchTo}`}>
          <Initials name={here.name} size={24} square />
          <Text size="sm" fw={600} flex={1} className="clip">
            {here.name}
          </Text>
          <ChevronsUpDown size={14} aria-hidden="true" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.switchTo}</Menu.Label>
        {customers.map((customer) => (
          <Menu.Item
            key={customer.id}
            disabled={customer.id === here.id}
            onClick={() => switchTo(customer.id)}
          >
            {customer.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function Person() {
  const t = useText()
  const go = useAppNavigate()
  const profile = useProfile()
  return (
    <Menu width={200} position="top-start">
      <Menu.Target>
        <UnstyledButton className="who">
          <Initials name={profile.name || profile.username} />
          <Box miw={0}>
            <Text size="xs" fw={600} className="clip">
              {profile.username}
            </Text>
            <Text size="xs" c="dimmed">
              {profile.credential}
              <VisuallyHidden>, {t.account}</VisuallyHidden>
            </Text>
          </Box>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Palette size={14} />} onClick={() => go('/settings/appearance')}>
          {t.appearance}
        </Menu.Item>
        <Menu.Item leftSection={<ShieldCheck size={14} />} onClick={() => go('/settings/security')}>
          {t.security}
        </Menu.Item>
        <Menu.Item leftSection={<LogOut size={14} />} onClick={signOut}>
          {t.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
