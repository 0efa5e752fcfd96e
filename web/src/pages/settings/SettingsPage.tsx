import { Stack, Tabs } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import { Missing } from '../../app/ErrorPage'
import { type Level, reaches } from '../../app/permissions'
import { useProfile } from '../../app/session'
import { useText as useAppText } from '../../app/text'
import { usePageTitle } from '../../app/title'
import { useGo } from '../../ui/AppLink'
import { useTabInView } from '../../ui/layout/useTabInView'
import { TABS, type Tab } from './tabs'
import { useText } from './text'

const settingsRoute = getRouteApi('/$customer/settings/$tab')

const part = <N extends string>(load: () => Promise<Record<N, ComponentType>>, name: N) =>
  lazy(() => load().then((found) => ({ default: found[name] })))

const PARTS: Record<Tab, ComponentType> = {
  organization: part(() => import('./organization/OrganizationTab'), 'Organization'),
  credentials: part(() => import('./organization/CredentialsTab'), 'Credentials'),
  notifications: part(() => import('./notifications/NotificationsTab'), 'Notifications'),
  retention: part(() => import('./organization/RetentionTab'), 'Retention'),
  appearance: part(() => import('./account/AppearanceTab'), 'Appearance'),
  security: part(() => import('./account/SecurityTab'), 'Security'),
  about: part(() => import('./AboutTab'), 'About'),
}
const LEVEL: Partial<Record<Tab, Level>> = {
  organization: 'admin',
  credentials: 'admin',
  notifications: 'admin',
  retention: 'admin',
}

export function SettingsPage() {
  const t = useText()
  const go = useGo()
  const { tab } = settingsRoute.useParams()
  const { credential } = useProfile()
  const mine = TABS.filter((one) => reaches(credential, LEVEL[one] ?? 'viewer'))
  const here = mine.find((one) => one === tab)
  const { settings } = useAppText()
  const list = useTabInView(tab)
  usePageTitle(here ? `${settings}: ${t.tabs[here]}` : settings, settings)
  if (!here) return <Missing />
  const Part = PARTS[here]
  return (
    <Stack gap="md" maw={960}>
      <Tabs value={here} onChange={(next) => next && go(`/settings/${next}`)}>
        <Tabs.List ref={list}>
          {mine.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {t.tabs[one]}
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
