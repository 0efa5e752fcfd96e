import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape, UI } from '../../../api/client'
import { customerQuery } from '../../../api/queries/access'
import { LEVELS } from '../../../app/permissions'
import { useCan } from '../../../app/session'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'
import { DemoSection } from './DemoSection'
import { IdentityProviders } from './IdentityProviders'

export function OrganizationTab() {
  const customer = useQuery(customerQuery)
  return (
    <Stack gap="md">
      <QueryResult query={customer}>
        {(data) => <Fields key={data.last_update} customer={data} />}
      </QueryResult>
      <IdentityProviders />
      <DemoSection />
    </Stack>
  )
}

function Fields({ customer }: { customer: Shape<'CustomerRecord'> }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const isOwner = useCan()('organization.edit')
  const [name, setName] = useState(customer.name)
  const [closing, setClosing] = useState(false)
  const change = useMutation({
    mutationFn: (body: Shape<'CustomerChange'>) => ok(api.PUT('/api/customer', { body })),
    onError: showError,
    onSuccess: (next) => {
      showSuccess(t.changed)
      // The name is part of every address: start over under the new one.
      if (next.name !== customer.name) location.assign(UI)
    },
    onSettled: () => client.invalidateQueries({ queryKey: customerQuery.queryKey }),
  })
  const close = useMutation({
    mutationFn: () =>
      ok(api.DELETE('/api/customer', { params: { query: { confirm: customer.name } } })),
    onError: showError,
    onSuccess: () => location.assign(UI),
  })
  return (
    <Section title={t.tabs.organization} aside={isOwner ? null : t.owner} padded>
      <Stack gap="md">
        <Group align="flex-end" gap={8}>
          <TextInput
            label={t.orgName}
            description={t.orgNameHelp}
            value={name}
            disabled={!isOwner}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button
            disabled={!isOwner || name === customer.name}
            loading={change.isPending}
            onClick={() => change.mutate({ name })}
          >
            {w.save}
          </Button>
        </Group>
        <Switch
          label={t.inner}
          description={t.innerHelp}
          disabled={!isOwner}
          checked={customer.inner_checks}
          onChange={(event) => change.mutate({ inner_checks: event.currentTarget.checked })}
        />
        <Select
          maw={360}
          label={t.factorLevel}
          description={t.factorHelp}
          disabled={!isOwner}
          allowDeselect={false}
          data={[
            { value: '', label: t.factorOff },
            ...LEVELS.map((level) => ({ value: level, label: level })),
          ]}
          value={customer.second_factor_level ?? ''}
          onChange={(level) => change.mutate({ second_factor_level: level ?? '' })}
        />
        {isOwner ? (
          <Group>
            <Button
              variant="default"
              c="var(--mantine-color-error)"
              onClick={() => setClosing(true)}
            >
              {t.closeOrg}
            </Button>
          </Group>
        ) : null}
        <ConfirmDialog
          opened={closing}
          title={t.closeOrg}
          word={customer.name}
          action={t.closeOrg}
          busy={close.isPending}
          onClose={() => setClosing(false)}
          onConfirm={close.mutate}
        >
          <Text size="sm">{t.closeOrgBody}</Text>
        </ConfirmDialog>
      </Stack>
    </Section>
  )
}
