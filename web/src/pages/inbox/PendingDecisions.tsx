import { Badge, Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CheckCheck } from 'lucide-react'
import { useState } from 'react'
import { decisionsQuery, NEEDS, type Need, needsQuery } from '../../api/queries/inbox'
import { useAct } from '../../api/queries/job'
import { jobLook } from '../../lib/state'
import { Go } from '../../ui/AppLink'
import { Confirm } from '../../ui/form/ConfirmDialog'
import { Empty } from '../../ui/layout/EmptyState'
import { Loaded } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { done } from '../../ui/toast'
import { useInboxText } from './text'

type Vote = 'approve' | 'reject'

function useVote() {
  const t = useInboxText()
  const act = useAct()
  return async (need: Need, vote: Vote) => {
    await act.mutateAsync({ act: vote, job: need.job }).then(
      () => done(vote === 'approve' ? t.approved(need.job.name) : t.rejected(need.job.name)),
      // Told already, in the server's words.
      () => {},
    )
  }
}

/** Approvals and questions, newest first; several at once by their boxes. */
export function Needs() {
  const t = useInboxText()
  const query = useQuery(needsQuery)
  const vote = useVote()
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const [asking, setAsking] = useState<Vote | null>(null)
  const needs = query.data ?? []
  const selected = needs.filter((need) => chosen.has(need.job.id))
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
      title={t.waits}
      aside={needs.length ? <Badge className="badge-wait">{needs.length}</Badge> : null}
      right={
        selected.length ? (
          <>
            <Text size="xs" role="status">
              {t.selected(selected.length)}
            </Text>
            <Button size="compact-xs" onClick={() => setAsking('approve')}>
              {t.approveAll}
            </Button>
            <Button size="compact-xs" variant="default" onClick={() => setAsking('reject')}>
              {t.rejectAll}
            </Button>
          </>
        ) : (
          <Text size="xs" c="dimmed" className="hide-md">
            {needs.length ? t.keys : ''}
          </Text>
        )
      }
    >
      <Loaded query={query} lines={3}>
        {(found) =>
          found.length === 0 ? (
            <Nothing />
          ) : (
            found.map((need) => (
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
      </Loaded>
      {needs.length === NEEDS ? (
        <Text size="sm" c="dimmed" p="md" ta="center">
          {t.newest(NEEDS)}
        </Text>
      ) : null}
      <Confirm
        opened={asking !== null}
        title={t.bulkTitle(selected.length, word)}
        action={word}
        onClose={() => setAsking(null)}
        onConfirm={() => asking && void decide(asking)}
      >
        {t.bulkBody}
      </Confirm>
    </Section>
  )
}

interface RowProps {
  need: Need
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
        <Go to={`/jobs/${job.id}`} className="inbox-link" data-act="open">
          {need.question || job.name}
        </Go>
        <Text size="xs" c="dimmed" component="div">
          {need.question && need.question !== job.name ? `${job.name} · ` : ''}
          {t.asked} {job.user.username || job.user.email || '—'} · <Ago at={job.creation_date} />
          {isVote && need.will_run.length ? ` · ${t.runs(need.will_run.length)}` : ''} · {t.until}{' '}
          <Ago at={need.until} />
        </Text>
      </span>
      <Group gap={6} wrap="nowrap">
        {isVote ? (
          <>
            <Button size="compact-xs" data-act="approve" onClick={() => onVote('approve')}>
              {t.approve}
            </Button>
            <Button
              size="compact-xs"
              variant="default"
              data-act="reject"
              onClick={() => onVote('reject')}
            >
              {t.reject}
            </Button>
          </>
        ) : (
          <Button component={Go} to={`/jobs/${job.id}`} search={{ answer: true }} size="compact-xs">
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
      <Empty icon={CheckCheck} title={t.nothing}>
        {t.nothingBody}
      </Empty>
      {data?.length ? (
        <>
          <Text size="xs" fw={600} c="dimmed" px="md" pb={4}>
            {t.decisions}
          </Text>
          {data.map((job) => (
            <div key={job.id} className="row inbox-row" data-row>
              <StateIcon look={jobLook(job)} />
              <span className="clip">
                <Go to={`/jobs/${job.id}`} className="inbox-link">
                  {job.state === 'success' ? t.approved(job.name) : t.rejected(job.name)}
                </Go>
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
