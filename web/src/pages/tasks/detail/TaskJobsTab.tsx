import { Button, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListChecks } from 'lucide-react'
import { taskJobsQuery } from '../../../api/queries/automation/task'
import { jobLook, jobWord } from '../../../lib/state'
import { Go } from '../../../ui/AppLink'
import { Empty } from '../../../ui/layout/EmptyState'
import { Loaded } from '../../../ui/layout/QueryResult'
import { useRowKeys } from '../../../ui/list/rowKeys'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago, Lasting } from '../../../ui/state/Time'
import { useText } from '../text'

/** The newest jobs of the task. */
export function JobsTab({ id }: { id: string }) {
  const t = useText()
  const query = useQuery(taskJobsQuery(id))
  useRowKeys()
  return (
    <Paper withBorder>
      <Loaded query={query}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Empty icon={ListChecks} title={t.job.none}>
              {t.job.noneBody}
            </Empty>
          ) : (
            <>
              <ul className="tasks-list" aria-label={t.tabs.jobs}>
                {jobs.map((job) => (
                  <li key={job.id}>
                    <Go to={`/jobs/${job.id}`} className="row task-jobs-row" data-row>
                      <StateIcon look={jobLook(job)} />
                      <span className="clip">
                        {jobWord(job)}{' '}
                        <Text span size="xs" c="dimmed" className="mono">
                          #{job.id.slice(-6)}
                        </Text>
                      </span>
                      <Text size="xs" c="dimmed" span>
                        <Ago at={job.creation_date} />
                      </Text>
                      <Text size="xs" span className="hide-sm">
                        {job.started_at ? <Lasting from={job.started_at} to={job.ended_at} /> : '—'}
                      </Text>
                      <Text size="xs" c="dimmed" span className="clip hide-sm">
                        {job.user?.username || job.origin}
                      </Text>
                    </Go>
                  </li>
                ))}
              </ul>
              <Button component={Go} to="/jobs" search={{ task: id }} variant="subtle" m={8}>
                {t.job.all}
              </Button>
            </>
          )
        }
      </Loaded>
    </Paper>
  )
}
