import { Stack, Tabs } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import { NotFoundPage } from '../../app/ErrorPage'
import { useNavTitles } from '../../app/pages'
import { hasLevel, type Level } from '../../app/permissions'
import { useProfile } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { useAppNavigate } from '../../ui/AppLink'
import { useTabInView } from '../../ui/layout/useTabInView'
import { TABS, type Tab } from './tabs'
import { useText } from './text'

const settingsRoute = getRouteApi('/$customer/settings/$tab')

const part = <N extends string>(load: () => Promise<Record<N, ComponentType>>, name: N) =>
  lazy(() => load().then((module) => ({ default: module[name] })))

const PARTS: Record<Tab, ComponentType> = {
  organization: part(() => import('./organization/OrganizationTab'), 'OrganizationTab'),
  credentials: part(() => import('./organization/CredentialsTab'), 'CredentialsTab'),
  notifications: part(() => import('./notifications/NotificationsTab'), 'NotificationsTab'),
  retention: part(() => import('./organization/RetentionTab'), 'RetentionTab'),
  appearance: part(() => import('./account/AppearanceTab'), 'AppearanceTab'),
  security: part(() => import('./account/SecurityTab'), 'SecurityTab'),
  about: part(() => import('./AboutTab'), 'AboutTab'),
}
const LEVEL: Partial<Record<Tab, Level>> = {
  organization: 'admin',
  credentials: 'admin',
  notifications: 'admin',
  retention: 'admin',
}

export function SettingsPage() {
  const t = useText()
  const go = useAppNavigate()
  const { tab } = settingsRoute.useParams()
  const { credential } = useProfile()
  const tabs = TABS.filter((name) => hasLevel(credential, LEVEL[name] ?? 'viewer'))
  const here = tabs.find((name) => name === tab)
  const { settings } = useNavTitles()
  const list = useTabInView(tab)
  usePageTitle(here ? `${settings}: ${t.tabs[here]}` : settings, settings)
  if (!here) return <NotFoundPage />
  const Part = PARTS[here]
  return (
    <Stack gap="md" maw={960}>
      <Tabs value={here} onChange={(next) => next && go(`/settings/${next}`)}>
        <Tabs.List ref={list}>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={here} pt="md">
          <Suspense fallback={null}>
            <Part />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}
