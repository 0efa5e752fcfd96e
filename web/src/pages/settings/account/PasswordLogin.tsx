import { Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { customerQuery } from '../../../api/queries/access'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

/** Whether the organization accepts passwords, or only sign-in through its provider. */
export function PasswordLogin() {
  const t = useText()
  const client = useQueryClient()
  const customer = useQuery(customerQuery)
  const [asking, setAsking] = useState(false)
  const change = useMutation({
    mutationFn: (providers_only: boolean) =>
      ok(api.PUT('/api/customer', { body: { providers_only } })),
    onError: showError,
    onSuccess: () => showSuccess(t.changed),
    onSettled: () => {
      setAsking(false)
      return client.invalidateQueries({ queryKey: customerQuery.queryKey })
    },
  })
  return (
    <Section title={t.passwords} padded>
      <QueryResult query={customer} lines={2}>
        {(settings) => (
          <Switch
            label={t.passwordLogin}
            description={t.passwordLoginHelp}
            checked={!settings.providers_only}
            onChange={() => (settings.providers_only ? change.mutate(false) : setAsking(true))}
          />
        )}
      </QueryResult>
      <ConfirmDialog
        opened={asking}
        title={t.passwordsOff}
        action={t.passwordsOff}
        busy={change.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => change.mutate(true)}
      >
        <Text size="sm">{t.passwordsOffBody}</Text>
      </ConfirmDialog>
    </Section>
  )
}
