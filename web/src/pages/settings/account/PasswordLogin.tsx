import { Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import { customerQuery } from '../../../api/queries/access'
import { Confirm } from '../../../ui/form/ConfirmDialog'
import { Loaded } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { done, failed } from '../../../ui/toast'
import { useText } from '../text'

/** Whether the organization takes passwords, or only who comes through its provider. */
export function PasswordLogin() {
  const t = useText()
  const client = useQueryClient()
  const customer = useQuery(customerQuery)
  const [asking, setAsking] = useState(false)
  const change = useMutation({
    mutationFn: (providers_only: boolean) =>
      ok(api.PUT('/api/customer', { body: { providers_only } })),
    onError: failed,
    onSuccess: () => done(t.changed),
    onSettled: () => {
      setAsking(false)
      return client.invalidateQueries({ queryKey: customerQuery.queryKey })
    },
  })
  return (
    <Section title={t.passwords} padded>
      <Loaded query={customer} lines={2}>
        {(it) => (
          <Switch
            label={t.passwordLogin}
            description={t.passwordLoginHelp}
            checked={!it.providers_only}
            onChange={() => (it.providers_only ? change.mutate(false) : setAsking(true))}
          />
        )}
      </Loaded>
      <Confirm
        opened={asking}
        title={t.passwordsOff}
        action={t.passwordsOff}
        busy={change.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => change.mutate(true)}
      >
        <Text size="sm">{t.passwordsOffBody}</Text>
      </Confirm>
    </Section>
  )
}
