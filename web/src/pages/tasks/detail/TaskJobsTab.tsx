import { Button, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListChecks } from 'lucide-react'
import { type Task, taskJobsQuery } from '../../../api/queries/automation/task'
import { shortId } from '../../../lib/jobId'
import { jobLook, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { originText } from '../../../ui/job/origin'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { RemovedJobs } from '../../../ui/list/RemovedJobs'
import { useRowKeys } from '../../../ui/list/rowKeys'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Duration } from '../../../ui/state/Time'
import { useText } from '../text'
import { useDetailText } from './text'

/** The newest jobs of the task. */
export function TaskJobsTab({ task }: { task: Task }) {
  const t = useText()
  const detail = useDetailText()
  const { id, history } = task
  const keeps = history.inherited ? t.historyInherited : t.historyOwn
  const query = useQuery(taskJobsQuery(id))
  useRowKeys()
  return (
    <Paper withBorder>
      <QueryResult query={query}>
        {(jobs) =>
          jobs.length === 0 ? (
            <EmptyState icon={ListChecks} title={detail.job.none}>
              {detail.job.noneBody}
            </EmptyState>
          ) : (
            <>
              <ul className="tasks-list" aria-label={t.tabs.jobs}>
                {jobs.map((job) => (
                  <li key={job.id}>
                    <AppLink to={`/jobs/${job.id}`} className="row task-jobs-row" data-row>
                      <StateIcon look={jobLook(job)} />
                      <span className="clip">
                        {jobStateText(job)}{' '}
                        <Text span size="xs" c="dimmed" className="mono">
                          {shortId(job.id)}
                        </Text>
                      </span>
                      <Text size="xs" c="dimmed" span>
                        <Ago at={job.creation_date} />
                      </Text>
                      <Text size="xs" span className="hide-sm">
                        {job.started_at ? (
                          <Duration from={job.started_at} to={job.ended_at} />
                        ) : (
                          '—'
                        )}
                      </Text>
                      <Text size="xs" c="dimmed" span className="clip hide-sm">
                        {originText(job)}
                      </Text>
                    </AppLink>
                  </li>
                ))}
              </ul>
              <Button component={AppLink} to="/jobs" search={{ task: id }} variant="subtle" m={8}>
                {detail.job.all}
              </Button>
            </>
          )
        }
      </QueryResult>
      <Text size="xs" c="dimmed" ta="center" p={8}>
        {keeps(history.count ?? 0, history.days ?? 0)}
      </Text>
      <RemovedJobs task={id} />
    </Paper>
  )
}
