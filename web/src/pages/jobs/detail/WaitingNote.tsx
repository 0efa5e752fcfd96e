import { Alert } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Hourglass, Info } from 'lucide-react'
import type { ReactNode } from 'react'
import { pendingQuery } from '../../../api/queries/inbox'
import { choicesQuery, type Job, queuePositionQuery } from '../../../api/queries/job'
import { useHasLevel } from '../../../app/session'
import { shortId } from '../../../lib/jobId'
import { isOver } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { reasonText } from '../../../ui/job/reasons'
import { Ago } from '../../../ui/state/Time'
import { useJobText } from '../jobText'

interface Detail {
  hostname?: string
  since?: string
  until?: string
  at?: string
  held_by?: string[]
  approvers?: string[]
  four_eyes?: boolean
  job_id?: string
}

/** In words: why it does not run, or why it ended as it did. */
export function WaitingNote({ job }: { job: Job }) {
  const why = useWhy(job)
  if (!why) return null
  return (
    <Alert
      className="jobs-note"
      variant="default"
      icon={isOver(job) ? <Info size={16} /> : <Hourglass size={16} />}
    >
      {why}
    </Alert>
  )
}

function useWhy(job: Job): ReactNode {
  const t = useJobText()
  const isAdmin = useHasLevel('admin')
  const place = useQuery(queuePositionQuery(job)).data
  const isVote = job.waiting_reason === 'approval'
  const people = useQuery({ ...choicesQuery, enabled: isVote }).data?.people
  const pending = useQuery({ ...pendingQuery, enabled: isVote }).data
  const question = pending?.find((need) => need.job.id === job.id)?.question
  if (!isOver(job) || job.state === 'lost') {
    if (!job.waiting_reason) return null
    const detailFields = (job.waiting_detail ?? {}) as Detail
    const detail = { ...detailFields, approvers: namesOf(detailFields.approvers ?? [], people) }
    return (
      <>
        {question ? <p className="jobs-question">{question}</p> : null}
        {waits(job.waiting_reason, detail, place, t)}
        {job.waiting_reason === 'restored' && isAdmin ? (
          <>
            {' '}
            <AppLink to="/jobs/held">{t.wait.allHeld}</AppLink>
          </>
        ) : null}
        <HeldBy detail={detail} />
      </>
    )
  }
  return endReason(job, t)
}

/** Ids become names; one that cannot be named is left out. */
function namesOf(approvers: string[], people: Map<string, string> | undefined): string[] {
  return approvers
    .map((approver) => people?.get(approver) ?? (/^[0-9a-f]{24}$/.test(approver) ? '' : approver))
    .filter(Boolean)
}

type Words = ReturnType<typeof useJobText>

function waits(reason: string, detail: Detail, place: number | undefined, t: Words): ReactNode {
  const w = t.wait
  const host = detail.hostname ?? ''
  const until = detail.until ? (
    <>
      {' '}
      · {w.until} <Ago at={detail.until} />
    </>
  ) : null
  const reasons: Record<string, ReactNode> = {
    queued: place === undefined ? w.queuedPlain : w.queued(place),
    host_offline: (
      <>
        {w.host_offline(host)} <Ago at={detail.since} />.
      </>
    ),
    host_disabled: w.host_disabled(host),
    host_draining: w.host_draining(host),
    host_disk_full: (
      <>
        {w.host_disk_full(host)} <Ago at={detail.since} />.
      </>
    ),
    host_busy: w.host_busy(detail.held_by?.length ?? 0),
    concurrency_limit: w.concurrency_limit(detail.held_by?.length ?? 0),
    approval: (
      <>
        {w.approval((detail.approvers ?? []).join(', '))}
        {until}. {detail.four_eyes ? w.fourEyes : ''}
      </>
    ),
    input: (
      <>
        {w.input}
        {until}.
      </>
    ),
    retry_at: (
      <>
        {w.retry_at} <Ago at={detail.at} />.
      </>
    ),
    grace_time: (
      <>
        {w.grace_time} <Ago at={detail.at} />.
      </>
    ),
    unreachable: (
      <>
        {w.unreachable} <Ago at={detail.since} />.
      </>
    ),
    canceling: (
      <>
        {w.canceling} <Ago at={detail.since} />.
      </>
    ),
    restored: (
      <>
        {w.restored}
        {until}.
      </>
    ),
    held: (
      <>
        {w.manualHold}
        {until}.
      </>
    ),
    syncing: w.syncing,
    lost: w.lost,
  }
  return reasons[reason] ?? reason
}

/** Links to the jobs that hold the place, or to the step that waits. */
function HeldBy({ detail }: { detail: Detail }) {
  const t = useJobText()
  const ids = detail.held_by ?? []
  return (
    <>
      {ids.length ? (
        <>
          {' '}
          {t.wait.heldBy}{' '}
          {ids.slice(0, 5).map((id, i) => (
            <span key={id}>
              {i ? ', ' : ''}
              <AppLink to={`/jobs/${id}`} className="mono">
                {shortId(id)}
              </AppLink>
            </span>
          ))}
          .
        </>
      ) : null}
      {detail.job_id ? (
        <>
          {' '}
          <AppLink to={`/jobs/${detail.job_id}`}>{t.wait.step}</AppLink>
        </>
      ) : null}
    </>
  )
}

function endReason(job: Job, t: Words): string | null {
  const parts = [
    job.reason ? reasonText(job.reason) : '',
    job.canceled_by ? t.canceledBy(job.canceled_by) : '',
    job.resolved_by ? t.resolvedBy(job.resolved_by) : '',
    job.reconciled ? t.reconciled : '',
  ].filter(Boolean)
  return parts.length ? parts.join(' ') : null
}
