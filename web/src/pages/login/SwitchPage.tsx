import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Building2 } from 'lucide-react'
import { api, ok, UI } from '../../api/client'
import { profileQuery } from '../../app/session'
import { EmptyState } from '../../ui/layout/EmptyState'
import { showError } from '../../ui/toast'
import { useText } from './text'

const switchRoute = getRouteApi('/switch')

/** A link into an organization that the session is not in: go there, or stay. */
export function SwitchPage() {
  const t = useText()
  const { to = '/' } = switchRoute.useSearch()
  const { data } = useQuery(profileQuery)
  const name = decodeURIComponent(to.split('/')[1]?.split('?')[0] ?? '')
  const there = data?.customers.find(
    (customer) => customer.name.toLowerCase() === name.toLowerCase(),
  )
  const go = () =>
    there &&
    ok(api.PUT('/api/session/customer/{id}', { params: { path: { id: there.id } } })).then(
      () => location.assign(UI + to.replace(/^\//, '')),
      showError,
    )
  return (
    <EmptyState icon={Building2} title={t.switching}>
      <p>{t.switchBody(name)}</p>
      <Group justify="center" gap={8}>
        {there ? <Button onClick={go}>{t.switchTo(name)}</Button> : <p>{t.notMember}</p>}
        <Button component="a" href={UI} variant="default">
          {t.home}
        </Button>
      </Group>
    </EmptyState>
  )
}
