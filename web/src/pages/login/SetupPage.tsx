import { Button, PasswordInput, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, UI } from '../../api/client'
import { byField } from '../../api/errors'
import { LoginCard } from './LoginCard'
import { useText } from './text'
import { useSetup } from './useSetup'

export function SetupPage() {
  const t = useText()
  useSetup(true)
  const [form, setForm] = useState({ code: '', organization: '', email: '', password: '' })
  const setup = useMutation({
    mutationFn: () => ok(api.POST('/-/setup', { body: form })),
    onSuccess: () => location.assign(UI),
  })
  const faults = byField(setup.error)
  const field = (name: keyof typeof form) => ({
    required: true,
    value: form[name],
    error: faults[name],
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      setForm({ ...form, [name]: event.currentTarget.value }),
  })
  return (
    <LoginCard title={t.setupTitle} error={setup.error} onSubmit={() => setup.mutate()}>
      <Text size="sm">{t.setupBody}</Text>
      <TextInput autoFocus label={t.setupCode} autoComplete="off" {...field('code')} />
      <TextInput
        label={t.organization}
        description={t.organizationHelp}
        autoComplete="organization"
        {...field('organization')}
      />
      <TextInput label={t.mail} type="email" autoComplete="username" {...field('email')} />
      <PasswordInput
        label={t.password}
        minLength={12}
        autoComplete="new-password"
        {...field('password')}
      />
      <Button type="submit" size="sm" loading={setup.isPending}>
        {t.setup}
      </Button>
    </LoginCard>
  )
}
