import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Webhook as Icon, Plus } from 'lucide-react'
import { type Webhook, webhooksQuery } from '../../api/queries/webhook'
import { useKeys } from '../../app/keys'
import { useCan } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { Empty } from '../../ui/Empty'
import { Go, useGo } from '../../ui/Go'
import { Loaded } from '../../ui/Loaded'
import { useRowKeys } from '../../ui/rowKeys'
import { useTargets } from '../../ui/run/targets'
import { StateIcon } from '../../ui/StateIcon'
import { Ago } from '../../ui/Time'
import { attachedTo } from './attached'
import { useText } from './text'
import './webhooks.css'

export function WebhooksPage() {
  const t = useText()
  usePageTitle(t.list)
  const go = useGo()
  const query = useQuery(webhooksQuery)
  const mayEdit = useCan()('webhook.edit')
  useRowKeys()
  useKeys(mayEdit ? { c: () => go('/webhooks/new') } : {})
  return (
    <Paper withBorder>
      <Group className="head" gap={8}>
        <Text size="xs" c="dimmed">
          {query.data ? t.count(query.data.length) : ''}
        </Text>
        {mayEdit ? (
          <Button component={Go} to="/webhooks/new" ml="auto" leftSection={<Plus size={14} />}>
            {t.newWebhook}
          </Button>
        ) : null}
      </Group>
      <Loaded query={query}>
        {(hooks) =>
          hooks.length ? (
            <ul className="hooks-list" aria-label={t.list}>
              {hooks.map((one) => (
                <li key={one.id}>
                  <Row hook={one} />
                </li>
              ))}
            </ul>
          ) : (
            <Empty icon={Icon} title={t.first}>
              {t.firstBody}
            </Empty>
          )
        }
      </Loaded>
    </Paper>
  )
}

function Row({ hook }: { hook: Webhook }) {
  const t = useText()
  const names = attachedTo(hook, useTargets()).map((one) => one.name)
  return (
    <Go to={`/webhooks/${hook.id}`} className="row hooks-row" data-row>
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
    </Go>
  )
}
