import { Box, Group, Text, Title, Tooltip } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import type { Job } from '../../../api/queries/job'
import { interval } from '../../../lib/format'
import { shortId } from '../../../lib/jobId'
import { isOver, jobLook, jobStateText } from '../../../lib/state'
import { valueText } from '../../../lib/valueText'
import { AppLink } from '../../../ui/AppLink'
import type { Argument } from '../../../ui/arguments/values'
import { ArgumentChips } from '../../../ui/job/ArgumentChips'
import { originPage, originText } from '../../../ui/job/origin'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration } from '../../../ui/state/Time'
import { useJobText } from '../jobText'
import { JobActions } from './JobActions'

const MAX_VALUES = 12

/** Name, starter, host, duration and actions. */
export function JobHead({ job }: { job: Job }) {
  return (
    <header className="jobs-head">
      <span className="jobs-state">
        <StateIcon look={jobLook(job)} size={20} />
      </span>
      <Box miw={0} flex={1}>
        <Group gap={8} wrap="nowrap">
          <Title order={2} size="h4" className="clip" title={job.name}>
            {job.name}
          </Title>
          <Tooltip label={job.id}>
            <Text span c="dimmed" ff="monospace" size="sm">
              {shortId(job.id)}
            </Text>
          </Tooltip>
        </Group>
        <Facts job={job} />
        <Values job={job} />
      </Box>
      <JobActions job={job} />
    </header>
  )
}

function Facts({ job }: { job: Job }) {
  const t = useJobText()
  const facts: ReactNode[] = [
    <b key="state" role="status">
      {jobStateText(job)}
    </b>,
    <Origin key="origin" job={job} />,
  ]
  if (job.task_id || job.workflow_id) facts.push(<Source key="source" job={job} />)
  if (job.hostname) facts.push(<AppLink to={`/hosts/${job.host_id}`}>{job.hostname}</AppLink>)
  facts.push(
    job.started_at ? (
      <>
        {t.started} <Ago at={job.started_at} />
      </>
    ) : (
      <>
        {t.created} <Ago at={job.creation_date} />
      </>
    ),
  )
  if (job.started_at) facts.push(<Took job={job} />)
  if (job.restarted_from)
    facts.push(
      <AppLink to={`/jobs/${job.restarted_from}`}>
        {t.restartedFrom} {shortId(job.restarted_from)}
      </AppLink>,
    )
  return (
    <div className="jobs-facts">
      {facts.map((fact, i) => (
        <Fragment key={i}>
          {i ? ' · ' : ''}
          {fact}
        </Fragment>
      ))}
    </div>
  )
}

function Origin({ job }: { job: Job }) {
  const t = useJobText()
  const page = originPage(job)
  if (job.workflow_job_id && job.workflow_job_id !== job.id)
    return <AppLink to={`/jobs/${job.workflow_job_id}`}>{t.ofWorkflow}</AppLink>
  return page ? <AppLink to={page}>{originText(job)}</AppLink> : originText(job)
}

/** The task that it ran, or the workflow. */
function Source({ job }: { job: Job }) {
  const t = useJobText()
  if (job.task_id) return <AppLink to={`/tasks/${job.task_id}`}>{t.task}</AppLink>
  return <AppLink to={`/workflows/${job.workflow_id}`}>{t.workflow}</AppLink>
}

/** Its arguments; masked values are not listed. */
function Values({ job }: { job: Job }) {
  const definitions = (job.task?.task_arguments ?? []) as Argument[]
  const values = (job.task_arguments_values ?? []).filter((_, n) => !definitions[n]?.masked)
  if (values.length === 0) return null
  const texts = values.slice(0, MAX_VALUES).map((value) => valueText(value).slice(0, 200))
  return (
    <div className="jobs-values-line">
      <ArgumentChips texts={texts} more={values.length > MAX_VALUES} />
    </div>
  )
}

function Took({ job }: { job: Job }) {
  const t = useJobText()
  return (
    <>
      {isOver(job) ? `${t.took} ` : ''}
      <Duration from={job.started_at} to={job.ended_at} />
      {!isOver(job) && job.timeout ? ` ${t.ofLimit(interval(job.timeout))}` : ''}
    </>
  )
}
