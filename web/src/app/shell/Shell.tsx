import { AppShell, Burger, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { countsQuery } from '../../api/queries/counts'
import { useAppNavigate } from '../../ui/AppLink'
import { useKeys } from '../keys'
import { PAGES } from '../pages'
import { useEndsSoon, useProfile } from '../session'
import { useStream } from '../stream'
import { useText } from '../text'
import { usePageName, useTitle } from '../title'
import { Nav } from './Nav'
import { openPalette, usePaletteRequests } from './openPalette'
import { useRecentPages } from './recent'
import { TopBar } from './TopBar'

const HostsDown = lazy(() =>
  import('../../ui/hosts/HostsDown').then((module) => ({ default: module.HostsDown })),
)
const Palette = lazy(() => import('./Palette').then((module) => ({ default: module.Palette })))
const SessionEnding = lazy(() =>
  import('./SessionEnding').then((module) => ({ default: module.SessionEnding })),
)
const ShortcutHelp = lazy(() =>
  import('./ShortcutHelp').then((module) => ({ default: module.ShortcutHelp })),
)

/** The frame around every page of an organization. */
export function Shell() {
  const t = useText()
  const [opened, { toggle, close }] = useDisclosure()
  const [sheet, { open: openSheet, close: closeSheet }] = useDisclosure()
  const path = useLocation({ select: (location) => location.pathname })
  const title = useTitle()
  const go = useAppNavigate()
  const requests = usePaletteRequests()
  const endsSoon = useEndsSoon()
  const { data: counts } = useQuery(countsQuery)
  useStream()
  useRecent(path)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes
  useEffect(close, [path])
  useKeys({ 'mod+k': openPalette }, true)
  useKeys({
    '?': openSheet,
    ...Object.fromEntries(
      PAGES.filter((page) => page.key).map((page) => [`g ${page.key}`, () => go(page.to)]),
    ),
  })
  return (
    <AppShell
      layout="alt"
      header={{ height: 48 }}
      navbar={{ width: 216, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a
        className="skip"
        // Not a plain #main: that would lead to the <base> of the page.
        href={`${location.pathname}#main`}
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        {t.skip}
      </a>
      <AppShell.Navbar p={8} className="side">
        <Nav onClose={close} />
      </AppShell.Navbar>
      <AppShell.Header className="top">
        <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t.menu} />
        <Title order={1} size="h5" className="clip">
          {title}
        </Title>
        <TopBar />
      </AppShell.Header>
      <AppShell.Main className="main" id="main" tabIndex={-1}>
        {counts?.hosts.down ? (
          <Suspense fallback={null}>
            <HostsDown />
          </Suspense>
        ) : null}
        <Outlet />
      </AppShell.Main>
      <Suspense fallback={null}>
        {requests ? <Palette /> : null}
        {endsSoon ? <SessionEnding /> : null}
        {sheet ? <ShortcutHelp opened onClose={closeSheet} /> : null}
      </Suspense>
    </AppShell>
  )
}

/** Remembers the records that are opened, for the palette. */
function useRecent(path: string): void {
  const { id, current_customer } = useProfile()
  const inside = path.slice(path.indexOf('/', 1))
  useRecentPages(`${id} ${current_customer.id}`, inside, usePageName())
}
