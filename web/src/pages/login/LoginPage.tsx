import { Alert, Anchor, Button, Divider, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ok, UI } from '../../api/client'
import { LoginCard } from './LoginCard'
import { ProviderButtons, useMethods } from './ProviderButtons'
import { SecondStep, type SecondStepRequest, secondStepOf } from './SecondStep'
import { useText } from './text'
import { useSetup } from './useSetup'

const loginRoute = getRouteApi('/login')

export function LoginPage() {
  const { to, problem } = loginRoute.useSearch()
  const [request, setRequest] = useState<SecondStepRequest | null>(null)
  useSetup()
  // A full load: it clears everything that an earlier person left in memory.
  const enter = () => location.assign(UI + (to ?? '/').replace(/^\//, ''))
  if (request) return <SecondStep request={request} onIn={enter} onOver={() => setRequest(null)} />
  return <FirstStep to={to} problem={problem} onSecondStep={setRequest} onIn={enter} />
}

interface Props {
  to?: string
  problem?: string
  onSecondStep: (request: SecondStepRequest) => void
  onIn: () => void
}

function FirstStep({ to, problem, onSecondStep, onIn }: Props) {
  const t = useText()
  // The organization of the requested page.
  const methods = useMethods(to?.split('/')[1]?.split('?')[0])
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const login = useMutation({
    mutationFn: () => ok(api.POST('/api/auth/login', { body: { email, password } })),
    onSuccess: (answer) => {
      const more = secondStepOf(answer)
      if (more) onSecondStep(more)
      else onIn()
    },
  })
  return (
    <LoginCard title={t.title} error={login.error} onSubmit={() => login.mutate()}>
      {problem ? <Alert color="orange">{t.problems[problem] ?? problem}</Alert> : null}
      {methods?.password === false ? null : (
        <>
          <TextInput
            required
            autoFocus
            label={t.email}
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            required
            label={t.password}
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Button type="submit" size="sm" loading={login.isPending}>
            {t.enter}
          </Button>
          <Anchor component={Link} to="/recover" size="sm" ta="center">
            {t.forgot}
          </Anchor>
          {methods?.providers.length ? <Divider label={t.or} /> : null}
        </>
      )}
      <ProviderButtons providers={methods?.providers ?? []} to={to} />
    </LoginCard>
  )
}
