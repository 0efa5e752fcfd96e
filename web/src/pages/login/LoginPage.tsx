import { Button, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, UI } from '../../api/client'
import { loginRoute } from '../../app/root'
import { useText } from './text'

export function LoginPage() {
  const t = useText()
  const { to } = loginRoute.useSearch()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const login = useMutation({
    mutationFn: () => ok(api.POST('/api/auth/login', { body: { email, password } })),
    onSuccess: () => location.assign(UI + (to ?? '/').replace(/^\//, '')),
  })
  return (
    <Stack align="center" pt="15vh" px="md" component="main">
      <Paper withBorder p="lg" w="min(360px, 100%)">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            login.mutate()
          }}
        >
          <Stack gap="sm">
            <Title order={1} size="h4">
              {t.title}
            </Title>
            <TextInput
              label={t.email}
              value={email}
              onChange={(e) => setEmail(e.currentTarget.value)}
              autoComplete="username"
              required
              autoFocus
            />
            <PasswordInput
              label={t.password}
              value={password}
              onChange={(e) => setPassword(e.currentTarget.value)}
              autoComplete="current-password"
              required
            />
            {login.error ? (
              <Text size="sm" c="red.9" role="alert">
                {login.error.message}
              </Text>
            ) : null}
            <Button type="submit" loading={login.isPending}>
              {t.enter}
            </Button>
          </Stack>
        </form>
      </Paper>
    </Stack>
  )
}
