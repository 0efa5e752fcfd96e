import { Badge, Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CheckCheck } from 'lucide-react'
import { useState } from 'react'
import {
  decisionsQuery,
  PENDING_KEYS,
  type PendingDecision,
  pendingQuery,
} from '../../api/queries/inbox'
import { useJobAction } from '../../api/queries/job'
import { jobLook } from '../../lib/state'
import { AppLink } from '../../ui/AppLink'
import { ConfirmDialog } from '../../ui/form/ConfirmDialog'
import { PlannedTasks } from '../../ui/job/PlannedTasks'
import { EmptyState } from '../../ui/layout/EmptyState'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { showSuccess } from '../../ui/toast'
import { useInboxText } from './text'

type Vote = 'approve' | 'reject'
const VOTES: Vote[] = ['approve', 'reject']

function useVote() {
  const t = useInboxText()
  const action = useJobAction()
  return async (need: PendingDecision, vote: Vote) => {
    await action.mutateAsync({ action: vote, job: need.job }).then(
      () => showSuccess(vote === 'approve' ? t.approved(need.job.name) : t.rejected(need.job.name)),
      // The error was already shown.
      () => {},
    )
  }
}

/** Approvals and questions, newest first; several at once by their boxes. */
export function PendingDecisions() {
  const t = useInboxText()
  const query = useQuery(pendingQuery)
  const vote = useVote()
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const [asking, setAsking] = useState<Vote | null>(null)
  const decisions = query.data ?? []
  const selected = decisions.filter((need) => chosen.has(need.job.id))
  // Only if every selected approval offers it.
  const offered = (vote: Vote) => selected.every((need) => need.answers.includes(vote))
  const toggle = (id: string) =>
    setChosen((old) => {
      const next = new Set(old)
      if (!next.delete(id)) next.add(id)
      return next
    })
  const decide = async (word: Vote) => {
    setAsking(null)
    setChosen(new Set())
    for (const need of selected) await vote(need, word)
  }
  const word = asking === 'reject' ? t.rejectAll : t.approveAll
  return (
    <Section
      title={t.pending}
      aside={decisions.length ? <Badge className="badge-wait">{decisions.length}</Badge> : null}
      right={
        selected.length ? (
          <>
            <Text size="xs" role="status">
              {t.selected(selected.length)}
            </Text>
            <Button
              size="compact-xs"
              disabled={!offered('approve')}
              onClick={() => setAsking('approve')}
            >
              {t.approveAll}
            </Button>
            <Button
              size="compact-xs"
              variant="default"
              disabled={!offered('reject')}
              onClick={() => setAsking('reject')}
            >
              {t.rejectAll}
            </Button>
          </>
        ) : (
          <Text size="xs" c="dimmed" className="hide-md">
            {decisions.length ? t.keys : ''}
          </Text>
        )
      }
    >
      <QueryResult query={query} lines={3}>
        {(decisions) =>
          decisions.length === 0 ? (
            <Nothing />
          ) : (
            decisions.map((need) => (
              <Row
                key={need.job.id}
                need={need}
                isChosen={chosen.has(need.job.id)}
                onToggle={() => toggle(need.job.id)}
                onVote={(word) => void vote(need, word)}
              />
            ))
          )
        }
      </QueryResult>
      {decisions.length === PENDING_KEYS ? (
        <Text size="sm" c="dimmed" p="md" ta="center">
          {t.newest(PENDING_KEYS)}
        </Text>
      ) : null}
      <ConfirmDialog
        opened={asking !== null}
        title={t.bulkTitle(selected.length, word)}
        action={word}
        onClose={() => setAsking(null)}
        onConfirm={() => asking && void decide(asking)}
      >
        {t.bulkBody}
        {selected.map((need) => (
          <div key={need.job.id}>
            <Text size="sm" fw={600} mt="sm">
              {need.question || need.job.name}
            </Text>
            <PlannedTasks planned={need.will_run} />
          </div>
        ))}
      </ConfirmDialog>
    </Section>
  )
}

interface RowProps {
  need: PendingDecision
  isChosen: boolean
  onToggle: () => void
  onVote: (vote: Vote) => void
}

function Row({ need, isChosen, onToggle, onVote }: RowProps) {
  const t = useInboxText()
  const { job } = need
  const isVote = need.kind === 'approval'
  return (
    <div className="row inbox-need" data-row>
      {isVote ? (
        <Checkbox
          size="xs"
          aria-label={t.select(job.name)}
          data-act="select"
          checked={isChosen}
          onChange={onToggle}
        />
      ) : (
        <span />
      )}
      <StateIcon look="wait" title={isVote ? t.approval : t.input} />
      <span className="inbox-what">
        <AppLink to={`/jobs/${job.id}`} className="inbox-link" data-act="open">
          {need.question || job.name}
        </AppLink>
        <Text size="xs" c="dimmed" component="div">
          {need.question && need.question !== job.name ? `${job.name} · ` : ''}
          {t.requestedBy} {job.user.username || job.user.email || '—'} ·{' '}
          <Ago at={job.creation_date} />
          {' · '}
          {t.expires} <Ago at={need.until} />
        </Text>
        {isVote ? <PlannedTasks planned={need.will_run} /> : null}
      </span>
      <Group gap={6} wrap="nowrap">
        {isVote ? (
          VOTES.filter((vote) => need.answers.includes(vote)).map((vote) => (
            <Button
              key={vote}
              size="compact-xs"
              variant={vote === 'approve' ? 'filled' : 'default'}
              data-act={vote}
              onClick={() => onVote(vote)}
            >
              {t[vote]}
            </Button>
          ))
        ) : (
          <Button
            component={AppLink}
            to={`/jobs/${job.id}`}
            search={{ answer: true }}
            size="compact-xs"
          >
            {t.answer}
          </Button>
        )}
      </Group>
    </div>
  )
}

function Nothing() {
  const t = useInboxText()
  const { data } = useQuery(decisionsQuery)
  return (
    <Stack gap={0}>
      <EmptyState icon={CheckCheck} title={t.nonePending}>
        {t.nonePendingBody}
      </EmptyState>
      {data?.length ? (
        <>
          <Text size="xs" fw={600} c="dimmed" px="md" pb={4}>
            {t.decisions}
          </Text>
          {data.map((job) => (
            <div key={job.id} className="row inbox-row" data-row>
              <StateIcon look={jobLook(job)} />
              <span className="clip">
                <AppLink to={`/jobs/${job.id}`} className="inbox-link">
                  {job.state === 'success' ? t.approved(job.name) : t.rejected(job.name)}
                </AppLink>
              </span>
              <Text size="xs" c="dimmed">
                <Ago at={job.ended_at} />
              </Text>
            </div>
          ))}
        </>
      ) : null}
    </Stack>
  )
}
