import { Box, Group, Text, Title, Tooltip } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import type { Job } from '../../../api/queries/job'
import { interval } from '../../../lib/format'
import { isOver, jobLook, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration } from '../../../ui/state/Time'
import { useJobText } from '../jobText'
import { JobActions } from './JobActions'

/** What it is, who started it, where it runs, how long; and what can be done. */
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
              #{job.id.slice(-6)}
            </Text>
          </Tooltip>
        </Group>
        <Facts job={job} />
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
        {t.restartedFrom} #{job.restarted_from.slice(-6)}
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
  const word = t.origin[job.origin] ?? job.origin
  const who = job.user.username || job.user.email
  return (
    <>
      {job.workflow_job_id && job.workflow_job_id !== job.id ? (
        <AppLink to={`/jobs/${job.workflow_job_id}`}>{t.ofWorkflow}</AppLink>
      ) : (
        word
      )}
      {who ? ` · ${who}` : ''}
    </>
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
