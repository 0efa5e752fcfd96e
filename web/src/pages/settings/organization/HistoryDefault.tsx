import { Button, Group, NumberInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape } from '../../../api/client'
import { customerQuery } from '../../../api/queries/access'
import { useCan } from '../../../app/session'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { useWords } from '../../../ui/text'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

/** How many ended jobs are kept by tasks without limits of their own. */
export function HistoryDefault() {
  const t = useText()
  const customer = useQuery(customerQuery)
  const isOwner = useCan()('organization.edit')
  return (
    <Section title={t.keepDefault} aside={isOwner ? null : t.owner} padded>
      <QueryResult query={customer}>
        {(data) => <Fields key={data.last_update} history={data.history} isOwner={isOwner} />}
      </QueryResult>
    </Section>
  )
}

interface FieldsProps {
  history: Shape<'HistoryLimits'>
  isOwner: boolean
}

function Fields({ history, isOwner }: FieldsProps) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [count, setCount] = useState(history.count)
  const [days, setDays] = useState(history.days)
  const change = useMutation({
    mutationFn: () => ok(api.PUT('/api/customer', { body: { history: { count, days } } })),
    onError: showError,
    onSuccess: () => showSuccess(t.changed),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: customerQuery.queryKey })
      await client.invalidateQueries({ queryKey: ['task'] })
    },
  })
  const isSame = count === history.count && days === history.days
  return (
    <Group align="flex-end" gap={8}>
      <NumberInput
        label={t.keepCountLabel}
        min={0}
        disabled={!isOwner}
        value={count}
        onChange={(value) => setCount(Number(value) || 0)}
      />
      <NumberInput
        label={t.keepDaysLabel}
        min={0}
        disabled={!isOwner}
        value={days}
        onChange={(value) => setDays(Number(value) || 0)}
      />
      <Button
        disabled={!isOwner || isSame}
        loading={change.isPending}
        onClick={() => change.mutate()}
      >
        {w.save}
      </Button>
    </Group>
  )
}
