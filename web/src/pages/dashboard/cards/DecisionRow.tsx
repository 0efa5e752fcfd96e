import { Box, Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { AppLink } from '../../../ui/AppLink'
import { originText } from '../../../ui/job/origin'
import { PlannedTasks } from '../../../ui/job/PlannedTasks'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Duration } from '../../../ui/state/Time'
import { showError, showSuccess } from '../../../ui/toast'
import { type PendingDecision, pendingDecisionsQuery } from '../queries'
import { useText } from '../text'

/** An approval with its plan, or a question. */
export function DecisionRow({ need }: { need: PendingDecision }) {
  const t = useText()
  const { job } = need
  return (
    <Box className="row dash-need">
      <StateIcon look="wait" title={t.attention} />
      <AppLink to={`/jobs/${job.id}`} className="clip dash-plain">
        <Text size="sm" fw={550} className="clip">
          {need.question || job.name}
        </Text>
        <Text size="xs" c="dimmed" className="clip">
          {need.question && need.question !== job.name ? `${job.name} · ` : ''}
          {originText(job)} · {t.waiting} <Duration from={job.creation_date} />
        </Text>
      </AppLink>
      {need.kind === 'approval' ? (
        <div className="dash-plan">
          <PlannedTasks planned={need.will_run} />
        </div>
      ) : null}
      {need.kind === 'approval' ? (
        <Decide need={need} />
      ) : (
        <Button component={AppLink} to={`/jobs/${job.id}`} size="compact-xs" variant="default">
          {t.answer}
        </Button>
      )}
    </Box>
  )
}

/** The answers that the task offers. */
function Decide({ need }: { need: PendingDecision }) {
  const t = useText()
  const client = useQueryClient()
  const { id, name } = need.job
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
      {need.answers.includes('approve') ? (
        <Button size="compact-xs" onClick={() => decide.mutate(true)}>
          {t.approve}
        </Button>
      ) : null}
      {need.answers.includes('reject') ? (
        <Button size="compact-xs" variant="default" onClick={() => decide.mutate(false)}>
          {t.reject}
        </Button>
      ) : null}
    </Group>
  )
}
