import { Badge, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Webhook as Icon } from 'lucide-react'
import { type Webhook, webhooksQuery } from '../../api/queries/automation/webhook'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { AppLink } from '../../ui/AppLink'
import { ListPage } from '../../ui/list/ListPage'
import { useTargets } from '../../ui/run/targetList'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { attachedTargets } from './attachedTargets'
import { useText } from './text'
import './webhooks.css'

export function WebhooksPage() {
  const t = useText()
  usePageTitle(t.list)
  const query = useQuery(webhooksQuery)
  const mayEdit = useCan()('webhook.edit')
  const targets = useTargets()
  const textOf = (hook: Webhook) =>
    [hook.name, ...attachedTargets(hook, targets).map((target) => target.name)].join(' ')
  return (
    <ListPage
      query={query}
      count={t.count}
      make={mayEdit ? { to: '/webhooks/new', word: t.newWebhook } : null}
      find={{ label: t.find, textOf }}
      first={{ icon: Icon, title: t.first, body: t.firstBody }}
    >
      {(hooks) => (
        <ul className="hooks-list" aria-label={t.list}>
          {hooks.map((webhook) => (
            <li key={webhook.id}>
              <Row hook={webhook} />
            </li>
          ))}
        </ul>
      )}
    </ListPage>
  )
}

function Row({ hook }: { hook: Webhook }) {
  const t = useText()
  const names = attachedTargets(hook, useTargets()).map((target) => target.name)
  return (
    <AppLink to={`/webhooks/${hook.id}`} className="row hooks-row" data-row>
      <StateIcon look={hook.enable ? 'ok' : 'stop'} title={hook.enable ? t.enable : t.off} />
      <span style={{ minWidth: 0 }}>
        <Group gap={6} wrap="nowrap">
          <Text size="sm" fw={600} className="clip">
            {hook.name}
          </Text>
          {hook.enable ? null : <Badge size="xs">{t.off}</Badge>}
        </Group>
        <Text size="xs" c="dimmed" className="clip">
          {names.length ? t.runs(names.join('; ')) : t.runsNothing}
        </Text>
      </span>
      <Text size="xs" c="dimmed" span className="hide-sm">
        {t.calls(hook.trigger_count)}
      </Text>
      <Text size="xs" c="dimmed" span ta="right">
        {hook.last_triggered ? <Ago at={hook.last_triggered} /> : t.neverCalled}
      </Text>
    </AppLink>
  )
}
