import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BellOff, BellRing } from 'lucide-react'
import type { ReactNode } from 'react'
import { channelsQuery, recipientsQuery, rulesQuery } from '../../api/queries/notifications'
import { useHasLevel } from '../../app/session'
import { catalogue } from '../../lib/i18n'
import { AppLink } from '../AppLink'
import { type Failure, notifiedChannels } from './notifiedBy'
import type { OwnChannels } from './ownRule'

const useText = catalogue(
  {
    to: (names: string) => `A failure is sent to ${names}.`,
    noRecipients: 'Nobody is notified of a failure.',
    setUp: 'Set up notifications',
    change: 'Change',
    byAdmin: 'An admin sets up who is notified of a failure.',
  },
  {
    to: (names: string) => `Un fallo se envía a ${names}.`,
    noRecipients: 'No se avisa a nadie de un fallo.',
    setUp: 'Configurar notificaciones',
    change: 'Cambiar',
    byAdmin: 'Un administrador configura a quién se avisa de un fallo.',
  },
)

/** Who is notified of a failure. Only admins may see channels and rules; managers see the names. */
export function NotifiedBy({ failure, own }: { failure: Failure; own?: OwnChannels }) {
  const t = useText()
  const isAdmin = useHasLevel('admin')
  const isManager = useHasLevel('manager')
  if (isAdmin) return <ByRules failure={failure} own={own} />
  if (isManager) return <ByServer failure={failure} />
  return (
    <Text size="sm" c="dimmed">
      {t.byAdmin}
    </Text>
  )
}

function ByRules({ failure, own }: { failure: Failure; own: OwnChannels | undefined }) {
  const t = useText()
  const rules = useQuery(rulesQuery)
  const channels = useQuery(channelsQuery)
  if (!rules.data || !channels.data) return null
  const names = notifiedChannels(failure, rules.data, channels.data, own?.ids)
  return (
    <Recipients names={names}>
      <AppLink to="/settings/notifications">{names.length ? t.change : t.setUp}</AppLink>
    </Recipients>
  )
}

function ByServer({ failure }: { failure: Failure }) {
  const t = useText()
  const { data } = useQuery(recipientsQuery(failure))
  if (!data) return null
  return (
    <Recipients names={data.map(({ name }) => name)}>{data.length ? null : t.byAdmin}</Recipients>
  )
}

function Recipients({ names, children }: { names: string[]; children: ReactNode }) {
  const t = useText()
  const Icon = names.length ? BellRing : BellOff
  return (
    <Text size="sm" role="status">
      <Icon size={14} style={{ verticalAlign: -2, marginRight: 6 }} aria-hidden />
      {names.length ? t.to(names.join(', ')) : t.noRecipients} {children}
    </Text>
  )
}
