import { Badge, Box, Button, Group, Paper, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../api/client'
import { countsQuery } from '../../api/queries/counts'
import { AppLink } from '../../ui/AppLink'
import { StateIcon } from '../../ui/state/StateIcon'
import { Duration } from '../../ui/state/Time'
import { showError, showSuccess } from '../../ui/toast'
import { OverviewMore } from './OverviewRest'
import { type PendingDecision, pendingDecisionsQuery } from './queries'
import { useText } from './text'

/** Approvals and questions that this person may answer. */
export function PendingCard() {
  const t = useText()
  const { data } = useQuery(pendingDecisionsQuery)
  const { data: counts } = useQuery(countsQuery)
  const total = Math.max(counts?.needs ?? 0, data?.length ?? 0)
  return (
    <Paper withBorder component="section" aria-label={t.needs}>
      <Group className="head">
        <Title order={2} size="h6">
          {t.needs}
        </Title>
        {total ? (
          <Badge size="sm" className="badge-wait">
            {total}
          </Badge>
        ) : null}
      </Group>
      {counts?.hosts.down_hosts.map((host) => (
        <AppLink key={host.id} to={`/hosts/${host.id}`} className="row dash-need">
          <StateIcon look="fail" />
          <Text size="sm" fw={550} className="clip">
            {t.hostDown(host.hostname)}
          </Text>
        </AppLink>
      ))}
      {data?.length === 0 && counts && !counts.hosts.down ? (
        <Text size="sm" c="dimmed" p="md">
          {t.nothing}
        </Text>
      ) : null}
      {data?.map((need) => (
        <Row key={need.job.id} need={need} />
      ))}
      {data ? <OverviewMore of={{ rows: data, total }} to="/inbox" /> : null}
    </Paper>
  )
}

function Row({ need }: { need: PendingDecision }) {
  const t = useText()
  const { job } = need
  return (
    <Box className="row dash-need">
      <StateIcon look="wait" title={t.needs} />
      <AppLink to={`/jobs/${job.id}`} className="clip dash-plain">
        <Text size="sm" fw={550} className="clip">
          {need.question || job.name}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {need.question && need.question !== job.name ? `${job.name} · ` : ''}
          {job.user.username} · {t.waiting} <Duration from={job.creation_date} />
        </Text>
      </AppLink>
      {need.kind === 'approval' ? (
        <Decide id={job.id} name={job.name} />
      ) : (
        <Button component={AppLink} to={`/jobs/${job.id}`} size="compact-xs" variant="default">
          {t.answer}
        </Button>
      )}
    </Box>
  )
}

function Decide({ id, name }: { id: string; name: string }) {
  const t = useText()
  const client = useQueryClient()
  const path = { params: { path: { id } } }
  const decide = useMutation({
    mutationFn: (yes: boolean) =>
      ok<unknown>(
        yes ? api.PUT('/job/{id}/approve', path) : api.PUT('/job/{id}/reject', path),
      ).then(() => yes),
    onMutate: () => {
      const before = client.getQueryData(pendingDecisionsQuery.queryKey)
      client.setQueryData(pendingDecisionsQuery.queryKey, (rows) =>
        rows?.filter((row) => row.job.id !== id),
      )
      return before
    },
    onSuccess: (yes) => showSuccess(`${yes ? t.approved : t.rejected}: ${name}`),
    onError: (fault, _yes, before) => {
      client.setQueryData(pendingDecisionsQuery.queryKey, before)
      showError(fault)
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ['job'] }),
  })
  return (
    <Group gap={6} wrap="nowrap">
      <Button size="compact-xs" variant="default" onClick={() => decide.mutate(false)}>
        {t.reject}
      </Button>
      <Button size="compact-xs" onClick={() => decide.mutate(true)}>
        {t.approve}
      </Button>
    </Group>
  )
}
