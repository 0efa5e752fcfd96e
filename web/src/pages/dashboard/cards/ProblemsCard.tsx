import { Badge, Group, Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { countsQuery } from '../../../api/queries/counts'
import { shortId } from '../../../lib/jobId'
import { PROBLEMS } from '../../../lib/problemJobs'
import { jobLook, jobStateText, type Look, monitorLook, monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { originText } from '../../../ui/job/origin'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { failedJobsQuery, problemMonitorsQuery, SHOWN_PROBLEMS } from '../queries'
import { useText } from '../text'

/** Hosts, monitors and jobs that need attention; not rendered if there are none. */
export function ProblemsCard() {
  const t = useText()
  const { data: counts } = useQuery(countsQuery)
  const { data: monitors } = useQuery(problemMonitorsQuery)
  const { data: jobs } = useQuery(failedJobsQuery)
  const failing = (monitors?.rows ?? []).filter((row) =>
    ['fail', 'warn', 'lost'].includes(monitorLook(row)),
  )
  // Monitors that are not checked because their host is offline are listed after all failing ones,
  // and not counted.
  const unchecked = failing.filter((row) => monitorLook(row) === 'lost').length
  const { failure = 0, updates_stopped = 0 } = counts?.monitors ?? {}
  const total = monitors?.total ?? 0
  const hosts = counts?.hosts.down_hosts ?? []
  if (hosts.length + failing.length + (jobs?.length ?? 0) === 0) return null
  return (
    <Paper withBorder component="section" aria-label={t.problems} className="dash-problems">
      <Column title={t.hostsDown} count={counts?.hosts.down ?? 0} to="/hosts">
        {hosts.map((host) => (
          <Problem key={host.id} to={`/hosts/${host.id}`} look="fail" name={host.hostname}>
            {host.last_seen ? t.lastSeen : t.neverConnected}{' '}
            {host.last_seen ? <Ago at={host.last_seen} /> : null}
          </Problem>
        ))}
      </Column>
      <Column
        title={t.monitorsFailing}
        count={Math.max(failure + updates_stopped + unchecked, failing.length)}
        isMore={unchecked > 0 && total > SHOWN_PROBLEMS}
        to="/monitors"
        search={{ state: 'problems' }}
      >
        {failing.map((row) => (
          <Problem key={row.id} to={`/monitors/${row.id}`} look={monitorLook(row)} name={row.name}>
            {monitorStateText(row)} · <Ago at={row.state_since} />
            {row.hostname ? ` · ${row.hostname}` : ''}
          </Problem>
        ))}
      </Column>
      <Column
        title={t.jobsFailed}
        count={jobs?.length ?? 0}
        isMore={jobs?.length === SHOWN_PROBLEMS}
        to="/jobs"
        search={{ state: PROBLEMS, from: '24h' }}
      >
        {jobs?.map((job) => (
          <Problem
            key={job.id}
            to={`/jobs/${job.id}`}
            look={jobLook(job)}
            name={`${job.name} ${shortId(job.id)}`}
          >
            {jobStateText(job)} · <Ago at={job.ended_at} /> · {originText(job)}
          </Problem>
        ))}
      </Column>
    </Paper>
  )
}

interface ColumnProps {
  title: string
  count: number
  isMore?: boolean
  to: string
  search?: Record<string, unknown>
  children: ReactNode
}

function Column({ title, count, isMore, to, search, children }: ColumnProps) {
  const t = useText()
  if (count === 0) return null
  return (
    <div className="dash-problem-column">
      <Group gap={8} mb={4} wrap="nowrap">
        <Title order={2} size="h6">
          {title}
        </Title>
        <Badge size="sm" className="badge-fail">
          {count}
          {isMore ? '+' : ''}
        </Badge>
        <AppLink to={to} search={search} className="dash-problem-all" aria-label={t.allOf(title)}>
          {t.all}
        </AppLink>
      </Group>
      {children}
    </div>
  )
}

interface ProblemProps {
  to: string
  look: Look
  name: string
  children: ReactNode
}

function Problem({ to, look, name, children }: ProblemProps) {
  return (
    <AppLink to={to} className="dash-problem">
      <StateIcon look={look} size={14} />
      <span className="clip">
        <Text span size="sm" fw={550} className="dash-problem-name clip" title={name}>
          {name}
        </Text>{' '}
        <Text span size="xs" c="dimmed">
          {children}
        </Text>
      </span>
    </AppLink>
  )
}
