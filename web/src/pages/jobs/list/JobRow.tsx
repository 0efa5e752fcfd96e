import { ActionIcon, Menu } from '@mantine/core'
import { MoreHorizontal } from 'lucide-react'
import { memo } from 'react'
import type { Shape } from '../../../api/client'
import type { Job } from '../../../api/queries/job'
import { shortId } from '../../../lib/jobId'
import { jobLook, jobStateText } from '../../../lib/state'
import { type LinkProps, useAppNavigate } from '../../../ui/AppLink'
import { useCopy } from '../../../ui/copy/useCopy'
import { ArgumentChips } from '../../../ui/job/ArgumentChips'
import { definitionOf } from '../../../ui/job/definition'
import { originText } from '../../../ui/job/origin'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration } from '../../../ui/state/Time'
import { useJobsText } from '../listText'

interface Props {
  job: Job
  index: number
  y: number
  isNarrow: boolean
  isActive: boolean
  isChosen: boolean
  linkProps: LinkProps
  values: Shape<'JobArguments'> | undefined
  onToggle: (id: string, isRange?: boolean) => void
  onActive: (id: string) => void
  onSame: (job: Job) => void
}

/**
 * One job: a row, or two lines of a card where the screen is narrow. A hundred of them are made in
 * a second of scrolling, each in a few elements of the browser's own: a box and a button of the
 * library's, with their contexts and sheets, cost more than all the rest of a row.
 */
export const JobRow = memo(function JobRow(props: Props) {
  const { job, index, y, isNarrow, isActive, isChosen, linkProps, values } = props
  const t = useJobsText()
  return (
    <div
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      data-chosen={isChosen || undefined}
      data-job={job.id}
      data-active={isActive || undefined}
      className={isNarrow ? 'jobs-row jobs-card-row' : 'jobs-row'}
      style={{ top: y }}
      onFocus={() => props.onActive(job.id)}
    >
      <span role="cell" className="jobs-tick">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={t.select(job.name)}
          checked={isChosen}
          onChange={() => {}}
          onClick={(event) => props.onToggle(job.id, event.shiftKey)}
        />
      </span>
      {isNarrow ? (
        <Card job={job} linkProps={linkProps} values={values} />
      ) : (
        <Cells job={job} linkProps={linkProps} values={values} />
      )}
      <span role="cell">
        {isActive ? <RowMenu job={job} onSame={props.onSame} /> : <MenuPlace {...props} />}
      </span>
    </div>
  )
})

/** A menu per row is expensive: it is rendered when the row is the active one. */
function MenuPlace({ job, onActive }: Props) {
  return (
    <button
      type="button"
      className="jobs-menu"
      tabIndex={-1}
      aria-label={useJobsText.now().rowMenu(job.name)}
      aria-haspopup="menu"
      // The focus would put the menu's own button in its place before the click completes.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => {
        onActive(job.id)
        requestAnimationFrame(() =>
          document.querySelector<HTMLElement>(`[data-job="${job.id}"] [data-act="menu"]`)?.click(),
        )
      }}
    />
  )
}

type PartProps = Pick<Props, 'job' | 'linkProps' | 'values'>

/** The task of the job; with the keyboard it is opened by the menu of the row. */
function Definition({ job, linkProps }: Omit<PartProps, 'values'>) {
  const definition = definitionOf(job)
  return definition ? (
    <a {...linkProps(definition.page)} className="jobs-task" tabIndex={-1}>
      {definition.word}
    </a>
  ) : null
}

function Cells({ job, linkProps, values }: PartProps) {
  return (
    <>
      <span role="cell" className="jobs-state">
        <StateIcon look={jobLook(job)} />
        <span className="clip">{jobStateText(job)}</span>
      </span>
      <span role="cell" className="jobs-job clip">
        <a {...linkProps(`/jobs/${job.id}`)} className="jobs-link clip" title={job.name}>
          {job.name}
        </a>{' '}
        <code>{shortId(job.id)}</code>
        <Definition job={job} linkProps={linkProps} />
        {values ? <ArgumentChips texts={values.texts} more={values.more} /> : null}
      </span>
      <span role="cell" className="jobs-origin clip">
        {originText(job)}
      </span>
      <span role="cell" className="jobs-host clip">
        {job.hostname ?? '—'}
      </span>
      <span role="cell" className="jobs-created clip">
        <Ago at={job.creation_date} />
      </span>
      <span role="cell" className="jobs-duration clip">
        <Duration from={job.started_at} to={job.ended_at} />
      </span>
    </>
  )
}

function Card({ job, linkProps, values }: PartProps) {
  return (
    <span role="cell" className="jobs-two">
      <span className="jobs-state">
        <StateIcon look={jobLook(job)} title={jobStateText(job)} />
        <a {...linkProps(`/jobs/${job.id}`)} className="jobs-link clip">
          {job.name}
        </a>
        <Definition job={job} linkProps={linkProps} />
      </span>
      <span className="jobs-second clip">
        {jobStateText(job)} · {shortId(job.id)} · <Ago at={job.creation_date} />
        {job.started_at ? ' · ' : ''}
        {job.started_at ? <Duration from={job.started_at} to={job.ended_at} /> : null}
      </span>
      <span className="jobs-second clip">
        {[originText(job), job.hostname].filter(Boolean).join(' · ')}
        {values ? <ArgumentChips texts={values.texts} more={values.more} /> : null}
      </span>
    </span>
  )
}

function RowMenu({ job, onSame }: Pick<Props, 'job' | 'onSame'>) {
  const t = useJobsText()
  const go = useAppNavigate()
  const { copy } = useCopy()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" tabIndex={-1} data-act="menu" aria-label={t.rowMenu(job.name)}>
          <MoreHorizontal size={14} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => go(`/jobs/${job.id}`)}>{t.open}</Menu.Item>
        {job.task_id ? (
          <>
            <Menu.Item onClick={() => go(`/tasks/${job.task_id}`)}>{t.openTask}</Menu.Item>
            <Menu.Item onClick={() => onSame(job)}>{t.sameBut(shortId(job.id))}</Menu.Item>
            <Menu.Item onClick={() => go('/jobs', { task: job.task_id })}>{t.sameTask}</Menu.Item>
          </>
        ) : null}
        {job._type === 'WorkflowJob' && job.workflow_id ? (
          <Menu.Item onClick={() => go(`/workflows/${job.workflow_id}`)}>
            {t.openWorkflow}
          </Menu.Item>
        ) : null}
        {job.host_id ? (
          <Menu.Item onClick={() => go('/jobs', { host: job.host_id })}>{t.sameHost}</Menu.Item>
        ) : null}
        {job.user_id ? (
          <Menu.Item onClick={() => go('/jobs', { user: job.user_id })}>{t.sameUser}</Menu.Item>
        ) : null}
        <Menu.Item onClick={() => copy(job.id)}>{t.copyId}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
