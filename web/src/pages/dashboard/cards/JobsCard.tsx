import { Button, Group, Paper, Progress, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { countsQuery } from '../../../api/queries/counts'
import { useCan } from '../../../app/session'
import { interval } from '../../../lib/format'
import { shortId } from '../../../lib/jobId'
import { isOver, jobLook, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { originText } from '../../../ui/job/origin'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration, useNow } from '../../../ui/state/Time'
import { hasTasksQuery, type Job, recentJobsQuery } from '../queries'
import { useText } from '../text'

export function JobsCard() {
  const t = useText()
  const query = useQuery(recentJobsQuery)
  return (
    <Paper withBorder component="section" aria-label={t.jobs}>
      <Group className="head" wrap="nowrap">
        <Title order={2} size="h6">
          {t.jobs}
        </Title>
        <Summary />
        <Button
          component={AppLink}
          to="/jobs"
          ml="auto"
          size="compact-xs"
          variant="subtle"
          color="gray"
          className="dash-link"
        >
          {t.allJobs}
        </Button>
      </Group>
      <QueryResult query={query}>
        {(jobs) =>
          jobs.length === 0 ? <First /> : jobs.map((job) => <Row key={job.id} job={job} />)
        }
      </QueryResult>
    </Paper>
  )
}

function Summary() {
  const t = useText()
  const { data } = useQuery(countsQuery)
  if (!data) return null
  const { running, queued } = data.jobs
  const parts = [running && t.running(running), queued && t.queued(queued)]
  return (
    <Text size="xs" c="dimmed" className="clip">
      {parts.filter(Boolean).join(' · ')}
    </Text>
  )
}

function Row({ job }: { job: Job }) {
  const t = useText()
  const home = job.task_id ? `/tasks/${job.task_id}` : `/workflows/${job.workflow_id}`
  return (
    <div className="row dash-job" data-lifecycle={job.lifecycle}>
      <StateIcon look={jobLook(job)} title={jobStateText(job)} />
      <div className="clip">
        <Text size="sm" fw={550} className="clip" component="div">
          <AppLink to={`/jobs/${job.id}`} className="dash-plain dash-whole">
            {job.name}{' '}
            <Text span size="xs" c="dimmed">
              {shortId(job.id)}
            </Text>
          </AppLink>
        </Text>
        <Text size="xs" c="dimmed" className="clip" component="div">
          {[originText(job), job.hostname].filter(Boolean).join(' · ')}
          {job.task_id || job.workflow_id ? (
            <>
              {' · '}
              <AppLink to={home} className="dash-plain dash-above">
                {job.task_id ? t.task : t.workflow}
              </AppLink>
            </>
          ) : null}
        </Text>
        {job.started_at && !isOver(job) ? <ElapsedTime job={job} /> : null}
      </div>
      <div className="dash-when">
        <Text size="sm" component="div">
          {job.started_at ? <Duration from={job.started_at} to={job.ended_at} /> : '—'}
        </Text>
        <Text size="xs" c="dimmed" component="div">
          <Ago at={job.ended_at ?? job.creation_date} />
        </Text>
      </div>
    </div>
  )
}

/** How much of its allowed time a running job has used. */
function ElapsedTime({ job }: { job: Job }) {
  const t = useText()
  const spent = useNow() - Date.parse(job.started_at!)
  return (
    <Progress
      value={Math.min(100, Math.max(1, (100 * spent) / job.timeout))}
      size={3}
      mt={4}
      color="var(--st-run)"
      aria-label={t.limit(interval(job.timeout))}
    />
  )
}

function First() {
  const t = useText()
  const can = useCan()
  const { data: hasTasks } = useQuery(hasTasksQuery)
  const isNew = can('task.edit') && hasTasks === false
  if (!can('task.run'))
    return (
      <EmptyState icon={Play} title={t.noJobs}>
        <p>{t.noJobsBody}</p>
      </EmptyState>
    )
  return (
    <EmptyState icon={Play} title={t.firstJob}>
      <p>{isNew ? t.firstJobBody : t.firstRunBody}</p>
      <Button component={AppLink} to={isNew ? '/tasks/new' : '/tasks'}>
        {isNew ? t.newTask : t.toTasks}
      </Button>
    </EmptyState>
  )
}
