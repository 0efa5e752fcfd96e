import { ActionIcon, Button, Group, Menu, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import {
  Ban,
  Check,
  ChevronDown,
  MessageSquareReply,
  RotateCcw,
  StepForward,
  X,
} from 'lucide-react'
import { useState } from 'react'
import { pendingQuery } from '../../../api/queries/inbox'
import { isWorkflow, type Job, movesOf, useJobAction } from '../../../api/queries/job'
import { useKeys } from '../../../app/keys'
import { useHasLevel } from '../../../app/session'
import { shortId } from '../../../lib/jobId'
import { isOver } from '../../../lib/state'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { AnswerDialog } from '../dialogs/AnswerDialog'
import { ResolveDialog } from '../dialogs/ResolveDialog'
import { SameJobDialog } from '../dialogs/SameJobDialog'
import { useRestart } from '../dialogs/useRestart'
import { useJobText } from '../jobText'
import type { JobSearch } from '../search'
import { useMayAct } from './useMayAct'

type Dialog = 'cancel' | 'restart' | 'answer' | 'resolve' | null

/** The actions on this job that this person may do now. */
export function JobActions({ job }: { job: Job }) {
  const t = useJobText()
  const may = useMayAct(job)
  const isAdmin = useHasLevel('admin')
  const moves = movesOf(job)
  const action = useJobAction()
  const restart = useRestart()
  const { answer } = useSearch({ strict: false }) as JobSearch
  const [dialog, setDialog] = useState<Dialog>(
    answer && may && moves.has('input') ? 'answer' : null,
  )
  const close = () => setDialog(null)
  return (
    <Group gap={8} wrap="nowrap" className="jobs-acts">
      <Votes job={job} />
      {moves.has('input') ? (
        <PermissionTooltip may={may}>
          <Button
            leftSection={<MessageSquareReply size={14} />}
            disabled={!may}
            onClick={() => setDialog('answer')}
          >
            {t.answer}
          </Button>
        </PermissionTooltip>
      ) : null}
      {moves.has('synced') && may ? (
        <Button onClick={() => action.mutate({ action: 'synced', job })}>{t.synced}</Button>
      ) : null}
      {moves.has('hold') && may ? (
        <Button variant="default" onClick={() => action.mutate({ action: 'hold', job })}>
          {t.hold}
        </Button>
      ) : null}
      {moves.has('release') && (isAdmin || (may && job.waiting_reason === 'held')) ? (
        <Button variant="default" onClick={() => action.mutate({ action: 'release', job })}>
          {t.release}
        </Button>
      ) : null}
      {moves.has('resolve') ? (
        <PermissionTooltip may={may}>
          <Button variant="default" disabled={!may} onClick={() => setDialog('resolve')}>
            {t.resolve}
          </Button>
        </PermissionTooltip>
      ) : null}
      {moves.has('resume') ? (
        <PermissionTooltip may={may}>
          <Button
            variant="default"
            leftSection={<StepForward size={14} />}
            disabled={!may || restart.isPending}
            onClick={() => restart.mutate({ job, from: 'failed' })}
          >
            {t.resume}
          </Button>
        </PermissionTooltip>
      ) : null}
      {moves.has('restart') ? (
        <Again
          job={job}
          may={may}
          busy={restart.isPending}
          onAgain={() => restart.mutate({ job, from: 'start' })}
          onOther={() => setDialog('restart')}
        />
      ) : null}
      {isOver(job) ? null : (
        <PermissionTooltip may={may}>
          <Button
            variant="outline"
            className="jobs-cancel"
            leftSection={<Ban size={14} />}
            disabled={!may || !moves.has('cancel')}
            onClick={() => setDialog('cancel')}
          >
            {moves.has('cancel') ? t.cancel : t.canceling}
          </Button>
        </PermissionTooltip>
      )}
      <ConfirmDialog
        opened={dialog === 'cancel'}
        title={t.cancelTitle(job.name)}
        action={t.cancelJob}
        dismiss={t.keepRunning}
        onClose={close}
        onConfirm={() => {
          action.mutate({ action: 'cancel', job })
          close()
        }}
      >
        {t.cancelBody}
      </ConfirmDialog>
      {dialog === 'restart' ? <SameJobDialog job={job} onClose={close} /> : null}
      {dialog === 'answer' ? <AnswerDialog job={job} onClose={close} /> : null}
      {dialog === 'resolve' ? <ResolveDialog job={job} onClose={close} /> : null}
    </Group>
  )
}

/** Explains why a button does nothing for this person. */
function PermissionTooltip({ may, children }: { may: boolean; children: React.ReactElement }) {
  const t = useJobText()
  if (may) return children
  return (
    <Tooltip label={t.needsUser}>
      <span>{children}</span>
    </Tooltip>
  )
}

/** Approve and reject, for those whom the approval names. */
function Votes({ job }: { job: Job }) {
  const t = useJobText()
  const action = useJobAction()
  const needsApproval = job.lifecycle === 'onhold' && job.waiting_reason === 'approval'
  const { data } = useQuery({ ...pendingQuery, enabled: needsApproval })
  const mayVote = needsApproval && !!data?.some((need) => need.job.id === job.id)
  const { answers } = (job.waiting_detail ?? {}) as { answers?: string[] }
  const may = (word: 'approve' | 'reject') => mayVote && (answers?.includes(word) ?? true)
  const vote = (word: 'approve' | 'reject') => may(word) && action.mutate({ action: word, job })
  useKeys(mayVote ? { a: () => vote('approve'), 'Shift+r': () => vote('reject') } : {})
  if (!needsApproval) return null
  const buttons = (
    <Group gap={8} wrap="nowrap">
      <Button
        leftSection={<Check size={14} />}
        disabled={!may('approve')}
        onClick={() => vote('approve')}
      >
        {t.approve}
      </Button>
      <Button
        variant="default"
        leftSection={<X size={14} />}
        disabled={!may('reject')}
        onClick={() => vote('reject')}
      >
        {t.reject}
      </Button>
    </Group>
  )
  return mayVote || !data ? buttons : <Tooltip label={t.notYou}>{buttons}</Tooltip>
}

interface AgainProps {
  job: Job
  may: boolean
  busy: boolean
  onAgain: () => void
  onOther: () => void
}

function Again({ job, may, busy, onAgain, onOther }: AgainProps) {
  const t = useJobText()
  const hasValues = !isWorkflow(job) && (job.task?.task_arguments.length ?? 0) > 0
  const main = (
    <PermissionTooltip may={may}>
      <Button
        variant="default"
        leftSection={<RotateCcw size={14} />}
        disabled={!may}
        loading={busy}
        onClick={onAgain}
      >
        {t.restart}
      </Button>
    </PermissionTooltip>
  )
  if (!hasValues || !may) return main
  return (
    <Group gap={2} wrap="nowrap">
      {main}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t.more}>
            <ChevronDown size={14} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onOther}>{t.sameBut(shortId(job.id))}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}
