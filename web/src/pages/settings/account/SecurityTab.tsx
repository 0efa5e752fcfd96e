import { Badge, Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { byField } from '../../../api/errors'
import { sessionsQuery } from '../../../api/queries/access'
import { useCan, useProfile } from '../../../app/session'
import { browserName } from '../../../lib/browserName'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { Ago } from '../../../ui/state/Time'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { MembershipOffers } from './MembershipOffers'
import { PasswordLogin } from './PasswordLogin'
import { SecondFactor } from './SecondFactor'
import '../settings.css'
import { Form } from '../../../ui/form/Form'

export function SecurityTab() {
  const { protocol } = useProfile()
  const isOwner = useCan()('organization.edit')
  return (
    <Stack gap="md">
      <MembershipOffers />
      {protocol === 'local' ? <Password /> : null}
      <SecondFactor />
      <Sessions />
      {isOwner ? <PasswordLogin /> : null}
    </Stack>
  )
}

function Password() {
  const t = useText()
  const client = useQueryClient()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const change = useMutation({
    mutationFn: () => ok(api.POST('/api/auth/password/change', { body: { current, password } })),
    onError: showError,
    onSuccess: () => {
      setCurrent('')
      setPassword('')
      showSuccess(t.changed)
      void client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
  })
  return (
    <Section title={t.password} padded>
      <Form onSubmit={() => change.mutate()}>
        <Stack gap="sm" maw={360}>
          <PasswordInput
            required
            label={t.currentPassword}
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordInput
            required
            minLength={12}
            label={t.newPassword}
            description={t.passwordHelp}
            autoComplete="new-password"
            value={password}
            error={byField(change.error).password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              {t.change}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Section>
  )
}

function Sessions() {
  const t = useText()
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const end = useMutation({
    mutationFn: (id: string) => ok(api.DELETE('/api/session/{id}', { params: { path: { id } } })),
    onError: showError,
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  const endOthers = useMutation({
    mutationFn: () => ok(api.DELETE('/api/session')),
    onError: showError,
    onSuccess: () => showSuccess(t.endedOthers),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  })
  return (
    <Section
      title={t.sessions}
      aside={t.sessionsHelp}
      right={
        <Button
          size="compact-xs"
          variant="default"
          loading={endOthers.isPending}
          disabled={(sessions.data?.length ?? 0) < 2}
          onClick={() => endOthers.mutate()}
        >
          {t.endOthers}
        </Button>
      }
    >
      <QueryResult query={sessions} lines={3}>
        {(all) => (
          <div role="list">
            {all.map((session) => (
              <div role="listitem" key={session.id} className="row settings-session">
                <div className="clip">
                  <Text size="sm" className="clip" title={session.agent}>
                    {browserName(session.agent) || '—'}{' '}
                    {session.current ? <Badge size="xs">{t.thisOne}</Badge> : null}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {session.address}{' '}
                    {session.method ? `· ${t.method[session.method] ?? session.method}` : ''}
                  </Text>
                </div>
                <Text size="xs" c="dimmed" component="div">
                  <Ago at={session.last_use} />
                </Text>
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={session.current}
                  onClick={() => end.mutate(session.id)}
                  aria-label={`${t.end}: ${browserName(session.agent)}`}
                >
                  {t.end}
                </Button>
              </div>
            ))}
          </div>
        )}
      </QueryResult>
    </Section>
  )
}
