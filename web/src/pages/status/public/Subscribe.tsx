import { Anchor, Button, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Rss } from 'lucide-react'
import { useState } from 'react'
import { api, ok, ROOT } from '../../../api/client'
import { byField } from '../../../api/errors'
import { Form } from '../../../ui/form/Form'
import { useText } from '../text'

interface Props {
  slug: string
  canMail: boolean
}

/** How visitors learn of incidents: by e-mail, if the server sends mail, and by a feed. */
export function Subscribe({ slug, canMail }: Props) {
  const t = useText()
  return (
    <Paper withBorder p="md" component="section" aria-label={t.subscribeTitle}>
      <Stack gap="sm">
        <Title order={2} size="h6">
          {t.subscribeTitle}
        </Title>
        {canMail ? <MailForm slug={slug} /> : null}
        <Group gap="md">
          <FeedLink slug={slug} kind="rss" text={t.feed} />
          <FeedLink slug={slug} kind="atom" text={t.atomFeed} />
        </Group>
      </Stack>
    </Paper>
  )
}

function FeedLink({ slug, kind, text }: { slug: string; kind: 'rss' | 'atom'; text: string }) {
  return (
    <Anchor href={`${ROOT}-/status/${slug}/feed.${kind}`} size="sm" className="status-feed">
      <Rss size={14} aria-hidden /> {text}
    </Anchor>
  )
}

function MailForm({ slug }: { slug: string }) {
  const t = useText()
  const [email, setEmail] = useState('')
  const subscribe = useMutation({
    mutationFn: () =>
      ok(api.POST('/-/status/{slug}/subscriber', { params: { path: { slug } }, body: { email } })),
  })
  if (subscribe.isSuccess)
    return (
      <Text size="sm" role="status">
        {t.checkMail(email)}
      </Text>
    )
  return (
    <Form onSubmit={() => subscribe.mutate()}>
      <Group align="end" gap={8}>
        <TextInput
          className="status-email"
          type="email"
          required
          label={t.email}
          value={email}
          error={
            subscribe.error ? (byField(subscribe.error).email ?? subscribe.error.message) : null
          }
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Button type="submit" loading={subscribe.isPending}>
          {t.subscribe}
        </Button>
      </Group>
    </Form>
  )
}

interface LinkProps {
  slug: string
  confirm?: string
  unsubscribe?: string
}

/** The link of a mail was opened. It asks first: programs that check mails open every link. */
export function SubscriptionLink({ slug, confirm, unsubscribe }: LinkProps) {
  const t = useText()
  const redeem = useMutation({
    mutationFn: () => {
      const params = { path: { slug } }
      return confirm
        ? ok(api.POST('/-/status/{slug}/subscriber/confirm', { params, body: { token: confirm } }))
        : ok(
            api.POST('/-/status/{slug}/subscriber/unsubscribe', {
              params,
              body: { token: unsubscribe ?? '' },
            }),
          )
    },
  })
  if (!confirm && !unsubscribe) return null
  return (
    <Paper withBorder p="md" role="status">
      {redeem.isSuccess ? (
        <Text>{confirm ? t.confirmed : t.unsubscribed}</Text>
      ) : (
        <Group justify="space-between">
          <Text>{redeem.error ? t.badLink : confirm ? t.confirmAsk : t.unsubscribeAsk}</Text>
          <Button loading={redeem.isPending} onClick={() => redeem.mutate()}>
            {confirm ? t.confirm : t.unsubscribe}
          </Button>
        </Group>
      )}
    </Paper>
  )
}
