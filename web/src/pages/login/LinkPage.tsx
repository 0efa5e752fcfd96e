import { Anchor, Button, PasswordInput, Switch, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ok, type Shape, UI } from '../../api/client'
import { LoginCard } from './LoginCard'
import { ProviderButtons, useMethods } from './ProviderButtons'
import { SecondStep, type SecondStepRequest, secondStepOf } from './SecondStep'
import { useText } from './text'

/** Taken out of the address at once: not in the history, not in a screenshot. */
function takeToken(): string {
  const token = location.hash.slice(1)
  if (token) history.replaceState(history.state, '', location.pathname)
  return token
}

export function LinkPage() {
  const t = useText()
  const [token] = useState(takeToken)
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: () => ok(api.POST('/api/auth/link', { body: { token } })),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (link.isError)
    return (
      <LoginCard title={t.linkGone} onSubmit={() => {}}>
        <Text size="sm">{t.linkGoneBody}</Text>
        <Anchor component={Link} to="/login" size="sm">
          {t.back}
        </Anchor>
      </LoginCard>
    )
  if (!link.data) return null
  return link.data.password ? (
    <Redeem link={link.data} token={token} />
  ) : (
    <WithoutPassword link={link.data} />
  )
}

/** Where passwords are off, signing in through a provider accepts the invitation. */
function WithoutPassword({ link }: { link: Shape<'LinkDetailsRecord'> }) {
  const t = useText()
  const methods = useMethods(link.customer_name)
  const isInvitation = link.kind === 'invitation'
  return (
    <LoginCard
      title={isInvitation ? t.linkInvitation(link.customer_name) : t.linkNoPassword}
      onSubmit={() => {}}
    >
      <Text size="sm">
        {t.linkThrough(link.customer_name, link.email)} {isInvitation ? t.linkAccepts : null}
      </Text>
      <ProviderButtons providers={methods?.providers ?? []} to={`/${link.customer_name}`} />
    </LoginCard>
  )
}

function Redeem({ link, token }: { link: Shape<'LinkDetailsRecord'>; token: string }) {
  const t = useText()
  const [password, setPassword] = useState('')
  const [request, setRequest] = useState<SecondStepRequest | null>(null)
  const [hasAccount, setHasAccount] = useState(false)
  const isInvitation = link.kind === 'invitation'
  const redeem = useMutation({
    mutationFn: async () => {
      const body = { token, password }
      if (isInvitation)
        return ok(api.POST('/api/auth/invitation', { body: { ...body, account: hasAccount } }))
      await ok(api.PUT('/api/auth/password/reset', { body }))
      return null
    },
    onSuccess: (answer) => {
      const more = answer && secondStepOf(answer)
      if (more) setRequest(more)
      else if (answer) location.assign(UI)
    },
  })
  if (request)
    return (
      <SecondStep
        request={request}
        onIn={() => location.assign(UI)}
        onOver={() => location.assign(UI)}
      />
    )
  if (redeem.isSuccess && !isInvitation)
    return (
      <LoginCard title={t.linkReset} onSubmit={() => {}}>
        <Text size="sm" role="status">
          {t.passwordSet}
        </Text>
        <Anchor component={Link} to="/login" size="sm">
          {t.back}
        </Anchor>
      </LoginCard>
    )
  const isKnown = isInvitation && (link.has_password || hasAccount)
  return (
    <LoginCard
      title={isInvitation ? t.linkInvitation(link.customer_name) : t.linkReset}
      error={redeem.error}
      onSubmit={() => redeem.mutate()}
    >
      <Text size="sm">{isKnown ? t.linkKnown(link.email) : t.linkBody(link.email)}</Text>
      {isInvitation && !link.has_password ? (
        <Switch
          label={t.linkHasAccount}
          checked={hasAccount}
          onChange={(event) => setHasAccount(event.currentTarget.checked)}
        />
      ) : null}
      <PasswordInput
        required
        autoFocus
        minLength={isKnown ? 1 : 12}
        label={isKnown ? t.password : t.newPassword}
        autoComplete={isKnown ? 'current-password' : 'new-password'}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <Button type="submit" size="sm" loading={redeem.isPending}>
        {isInvitation ? t.accept : t.setPassword}
      </Button>
    </LoginCard>
  )
}
