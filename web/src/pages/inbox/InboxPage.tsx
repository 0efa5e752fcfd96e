import './inbox.css'
import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { startedByMeQuery } from '../../api/queries/inbox'
import type { Job } from '../../api/queries/job'
import { useProfile } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { jobLook, jobStateText } from '../../lib/state'
import { AppLink } from '../../ui/AppLink'
import { definitionOf } from '../../ui/job/definition'
import { QueryResult } from '../../ui/layout/QueryResult'
import { Section } from '../../ui/layout/Section'
import { StateIcon } from '../../ui/state/StateIcon'
import { Ago } from '../../ui/state/Time'
import { Notices } from './Notices'
import { PendingDecisions } from './PendingDecisions'
import { useInboxText } from './text'
import { useInboxKeys } from './useInboxKeys'

/** Open approvals and inputs, events, and the results of this person's jobs. */
export function InboxPage() {
  const t = useInboxText()
  usePageTitle(t.inbox)
  useInboxKeys()
  return (
    <Stack gap="md" maw={1100}>
      <PendingDecisions />
      <Notices />
      <StartedByMe />
    </Stack>
  )
}

function StartedByMe() {
  const t = useInboxText()
  const { id } = useProfile()
  const query = useQuery(startedByMeQuery(id))
  return (
    <Section
      title={t.ownJobs}
      right={
        <Button
          component={AppLink}
          to="/jobs"
          search={{ user: id }}
          size="compact-xs"
          variant="subtle"
          color="gray"
          className="inbox-all"
        >
          {t.allMine}
        </Button>
      }
    >
      <QueryResult query={query} lines={3}>
        {(jobs) =>
          jobs.length === 0 ? (
            <Text size="sm" c="dimmed" p="md">
              {t.noMine}
            </Text>
          ) : (
            jobs.slice(0, 20).map((job) => <OwnJob key={job.id} job={job} />)
          )
        }
      </QueryResult>
    </Section>
  )
}

function OwnJob({ job }: { job: Job }) {
  const definition = definitionOf(job)
  return (
    <div className="row inbox-row" data-row>
      <StateIcon look={jobLook(job)} />
      <span className="clip">
        <AppLink to={`/jobs/${job.id}`} className="inbox-link">
          {job.name}
        </AppLink>{' '}
        <Text span size="xs" c="dimmed">
          {jobStateText(job)}
          {job.hostname ? ` · ${job.hostname}` : ''}
          {definition ? ' · ' : ''}
          {definition ? (
            <AppLink to={definition.page} className="inbox-link">
              {definition.word}
            </AppLink>
          ) : null}
        </Text>
      </span>
      <Text size="xs" c="dimmed">
        <Ago at={job.ended_at} />
      </Text>
    </div>
  )
}
