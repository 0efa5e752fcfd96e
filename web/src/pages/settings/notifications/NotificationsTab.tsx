import { Button, SegmentedControl, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { MailX } from 'lucide-react'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { channelsQuery, messagesQuery, rulesQuery } from '../../../api/queries/notifications'
import type { Look } from '../../../lib/state'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { Warning } from '../../../ui/layout/Warning'
import { LoadMore } from '../../../ui/list/LoadMore'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { showError } from '../../../ui/toast'
import { Channels } from './Channels'
import { Rules } from './Rules'
import { useText } from './text'
import '../settings.css'

export function NotificationsTab() {
  return (
    <Stack gap="md">
      <NobodyWarning />
      <Channels />
      <Rules />
      <Messages />
    </Stack>
  )
}

/** Shown until an enabled rule leads to an enabled channel. */
function NobodyWarning() {
  const t = useText()
  const { data: channels } = useQuery(channelsQuery)
  const { data: rules } = useQuery(rulesQuery)
  if (!channels || !rules) return null
  const enabled = new Set(channels.filter(({ enable }) => enable).map(({ id }) => id))
  if (rules.some((rule) => rule.enable && rule.channels.some((id) => enabled.has(id)))) return null
  return (
    <Warning title={t.noRecipients}>
      <Text size="sm">{t.noRecipientsBody}</Text>
    </Warning>
  )
}

const LOOKS: Record<string, Look> = { sent: 'ok', dead: 'fail', waiting: 'queue' }

function Messages() {
  const t = useText()
  const [state, setState] = useState('')
  const messages = useInfiniteQuery(messagesQuery(state))
  const all = messages.data?.pages.flatMap((page) => page.rows) ?? []
  const choices = [
    { value: '', label: t.all },
    { value: 'waiting', label: t.waiting },
    { value: 'sent', label: t.sentMessages },
    { value: 'dead', label: t.dead },
  ]
  return (
    <Section
      title={t.messages}
      aside={t.messagesHelp}
      right={
        <SegmentedControl
          size="xs"
          aria-label={t.messages}
          data={choices}
          value={state}
          onChange={setState}
        />
      }
    >
      <QueryResult query={messages} lines={3}>
        {() =>
          all.length ? (
            <div role="list">
              {all.map((message) => (
                <MessageRow key={message.id} message={message} />
              ))}
            </div>
          ) : (
            <EmptyState icon={MailX} title={t.noMessages}>
              {t.noMessagesBody}
            </EmptyState>
          )
        }
      </QueryResult>
      <LoadMore query={messages} />
    </Section>
  )
}

function MessageRow({ message }: { message: Shape<'MessageRecord'> }) {
  const t = useText()
  const client = useQueryClient()
  const again = useMutation({
    mutationFn: () =>
      ok(api.POST('/notify/message/{id}/retry', { params: { path: { id: message.id } } })),
    onError: showError,
    onSettled: () => client.invalidateQueries({ queryKey: ['message'] }),
  })
  const word =
    { sent: t.sentMessages, dead: t.dead, waiting: t.waiting }[message.state] ?? message.state
  return (
    <div role="listitem" className="row settings-message">
      <StateIcon look={LOOKS[message.state] ?? 'queue'} title={word} />
      <div className="clip">
        <Text size="sm" className="clip">
          {message.events[0]?.title}{' '}
          {message.more || message.events.length > 1
            ? t.more(message.events.length - 1 + message.more)
            : ''}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {message.recipient} · {t.tries(message.attempts)}{' '}
          {message.tries[message.tries.length - 1]?.fault}
        </Text>
      </div>
      <Text size="xs" c="dimmed" component="div">
        <Ago at={message.creation_date} />
      </Text>
      {message.state === 'dead' ? (
        <Button
          size="compact-xs"
          variant="default"
          loading={again.isPending}
          onClick={() => again.mutate()}
        >
          {t.again}
        </Button>
      ) : (
        <span />
      )}
    </div>
  )
}
