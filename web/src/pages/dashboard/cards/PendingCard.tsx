import { Badge, Group, Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { countsQuery } from '../../../api/queries/counts'
import { pendingDecisionsQuery } from '../queries'
import { useText } from '../text'
import { OverviewMore } from './OverviewRest'
import { decisionRowsQuery } from './parts'

/** Approvals and questions that this person may answer. */
export function PendingCard() {
  const t = useText()
  const { data } = useQuery(pendingDecisionsQuery)
  const { data: counts } = useQuery(countsQuery)
  const { data: rows } = useQuery({ ...decisionRowsQuery, enabled: !!data?.length })
  const total = Math.max(counts?.needs ?? 0, data?.length ?? 0)
  return (
    <Paper withBorder component="section" aria-label={t.attention}>
      <Group className="head">
        <Title order={2} size="h6">
          {t.attention}
        </Title>
        {total ? (
          <Badge size="sm" className="badge-wait">
            {total}
          </Badge>
        ) : null}
      </Group>
      {data?.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {t.noAttention}
        </Text>
      ) : null}
      {rows ? data?.map((need) => <rows.DecisionRow key={need.job.id} need={need} />) : null}
      {data ? <OverviewMore of={{ rows: data, total }} to="/inbox" /> : null}
    </Paper>
  )
}
