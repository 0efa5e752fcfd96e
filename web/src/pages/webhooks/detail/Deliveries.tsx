import { Anchor, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import {
  type Delivery,
  deliveriesQuery,
  deliveryQuery,
} from '../../../api/queries/automation/webhook'
import { bytes } from '../../../lib/format'
import { shortId } from '../../../lib/jobId'
import { AppLink } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { showError, showSuccess } from '../../../ui/toast'
import { useText } from '../text'

/** Deliveries with payload, verdict and the jobs that they created. */
export function Deliveries({ id }: { id: string }) {
  const t = useText()
  const query = useQuery(deliveriesQuery(id))
  return (
    <QueryResult query={query} lines={3}>
      {(deliveries) =>
        deliveries.length ? (
          deliveries.map((delivery) => <Row key={delivery.id} delivery={delivery} />)
        ) : (
          <Text size="sm" p="md" c="dimmed">
            {t.deliveriesNone}
          </Text>
        )
      }
    </QueryResult>
  )
}

function isGood(verdict: string): boolean {
  return ['accepted', 'duplicate', 'challenge'].includes(verdict)
}

function Row({ delivery }: { delivery: Delivery }) {
  const t = useText()
  const [opened, setOpened] = useState(false)
  return (
    <details className="hooks-delivery" onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>
        <StateIcon look={isGood(delivery.verdict) ? 'ok' : 'fail'} />
        <span className="clip">
          <Text span size="sm" fw={600}>
            {t.verdicts[delivery.verdict] ?? delivery.verdict}
          </Text>{' '}
          <Text span size="xs" c="dimmed">
            {t.accessMethods[delivery.door] ?? delivery.door} · {delivery.user || delivery.address}{' '}
            · {bytes(delivery.size)}
          </Text>
        </span>
        {delivery.replay_of ? <Badge size="xs">{t.replayOf}</Badge> : <span />}
        <Text span size="xs" c="dimmed">
          <Ago at={delivery.date} />
        </Text>
      </summary>
      {opened ? <DeliveryDetails delivery={delivery} /> : null}
    </details>
  )
}

function DeliveryDetails({ delivery }: { delivery: Delivery }) {
  const t = useText()
  const query = useQuery(deliveryQuery(delivery.webhook_id, delivery.id))
  return (
    <Stack gap="sm" p="sm">
      <Group gap={8}>
        <Text size="sm" fw={600}>
          {t.jobs}
        </Text>
        {delivery.jobs.length ? null : <Text size="sm">{t.noJobs}</Text>}
        {delivery.jobs.map((job) => (
          <Anchor key={job.id} component={AppLink} to={`/jobs/${job.id}`} size="sm">
            {t.job} {shortId(job.id)}
          </Anchor>
        ))}
        <Replay delivery={delivery} />
      </Group>
      <QueryResult query={query} lines={2}>
        {(details) => (
          <>
            <TitledBlock title={t.body} text={details.body || t.noBody} />
            <TitledBlock
              title={t.headers}
              text={Object.entries(details.headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join('\n')}
            />
          </>
        )}
      </QueryResult>
    </Stack>
  )
}

function TitledBlock({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Text size="xs" fw={600} mb={4}>
        {title}
      </Text>
      <section className="hooks-text mono" aria-label={title} tabIndex={0}>
        {text}
      </section>
    </div>
  )
}

function Replay({ delivery }: { delivery: Delivery }) {
  const t = useText()
  const client = useQueryClient()
  const { webhook_id: id, id: delivery_id } = delivery
  const replay = useMutation({
    mutationFn: () =>
      ok(
        api.POST('/webhook/{id}/delivery/{delivery_id}/replay', {
          params: { path: { id, delivery_id } },
        }),
      ),
    onSuccess: () => showSuccess(t.replayed),
    onError: showError,
    onSettled: () => void client.invalidateQueries({ queryKey: ['webhook', id] }),
  })
  return (
    <Button
      ml="auto"
      variant="default"
      leftSection={<RotateCcw size={14} />}
      loading={replay.isPending}
      onClick={() => replay.mutate()}
    >
      {t.replay}
    </Button>
  )
}
