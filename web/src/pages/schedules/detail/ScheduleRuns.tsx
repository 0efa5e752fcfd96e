import { Anchor, Box, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { scheduleRunsQuery } from '../../../api/queries/automation/schedule'
import { useRefetchOnEvents } from '../../../api/refetchOnEvents'
import { dateTime } from '../../../lib/format'
import { shortId } from '../../../lib/jobId'
import { AppLink } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { LoadMore } from '../../../ui/list/LoadMore'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'

/** Every past instant: the job that it started, or why it was missed. */
export function ScheduleRuns({ id }: { id: string }) {
  const t = useText()
  const query = useInfiniteQuery(scheduleRunsQuery(id))
  useRefetchOnEvents(['job'], scheduleRunsQuery(id).queryKey)
  const runs = query.data?.pages.flat() ?? []
  return (
    <Box mt="sm">
      <Section title={t.runHistory}>
        <QueryResult query={query} lines={3}>
          {() =>
            runs.length === 0 ? (
              <Text size="sm" p="md" c="dimmed">
                {t.runHistoryNone}
              </Text>
            ) : (
              <ul className="sched-list" aria-label={t.runHistory}>
                {runs.map((run) => (
                  <li key={run.nominal} className="row sched-run-row">
                    <StateIcon look={run.state === 'started' ? 'ok' : 'warn'} />
                    <Text size="sm" component="div">
                      <time dateTime={run.nominal}>{dateTime(run.nominal)}</time>
                    </Text>
                    <Text size="sm" className="sched-why" component="div">
                      {run.state === 'started' ? t.started : t.missedRun}
                      {run.count > 1 ? ` (${t.times(run.count)})` : ''}
                      {run.reason ? `: ${t.reasons[run.reason] ?? run.message}` : ''}
                    </Text>
                    {run.job_id ? (
                      <Anchor component={AppLink} to={`/jobs/${run.job_id}`} size="sm">
                        {t.job} {shortId(run.job_id)}
                      </Anchor>
                    ) : (
                      <span />
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </QueryResult>
        <LoadMore query={query} />
      </Section>
    </Box>
  )
}
