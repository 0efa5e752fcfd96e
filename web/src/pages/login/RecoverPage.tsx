import { Anchor, Button, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ok } from '../../api/client'
import { LoginCard } from './LoginCard'
import { useText } from './text'

export function RecoverPage() {
  const t = useText()
  const [email, setEmail] = useState('')
  const recover = useMutation({
    mutationFn: () => ok(api.POST('/api/auth/password/recover', { body: { email } })),
  })
  return (
    <LoginCard title={t.recoverTitle} error={recover.error} onSubmit={() => recover.mutate()}>
      {recover.isSuccess ? (
        <Text size="sm" role="status">
          {t.recoverDone}
        </Text>
      ) : (
        <>
          <Text size="sm">{t.recoverBody}</Text>
          <TextInput
            required
            autoFocus
            label={t.email}
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <Button type="submit" size="sm" loading={recover.isPending}>
            {t.recover}
          </Button>
          <Text size="xs" c="dimmed">
            {t.operator}
          </Text>
        </>
      )}
      <Anchor component={Link} to="/login" size="sm" ta="center">
        {t.back}
      </Anchor>
    </LoginCard>
  )
}
