import '../jobs.css'
import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { type Job, jobQuery, shortIdQuery } from '../../../api/queries/job'
import { useNavTitles } from '../../../app/pages'
import { usePageTitle } from '../../../app/title'
import { shortId, shortIdIn } from '../../../lib/jobId'
import { isOver } from '../../../lib/state'
import { useAppNavigate, useAppPath } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { hashOf, linesInHash } from '../../../ui/log/lines/lineHash'
import { HeldJobsPage } from '../held/HeldJobsPage'
import { useJobText } from '../jobText'
import { AttemptSelect } from './AttemptSelect'
import { JobHead } from './JobHead'
import { ApprovalPreview } from './tabs/ApprovalPreview'
import { InputTab } from './tabs/InputTab'
import { JsonTab } from './tabs/JsonTab'
import { ResultTab } from './tabs/ResultTab'
import { WaitingNote } from './WaitingNote'
import { hasFailed, WhyFailed } from './WhyFailed'

const LogView = lazy(() =>
  import('../../../ui/log/LogView').then((module) => ({ default: module.LogView })),
)
const JobGraphTab = lazy(() =>
  import('./tabs/JobGraphTab').then((module) => ({ default: module.JobGraphTab })),
)

const PeopleTab = lazy(() =>
  import('./tabs/PeopleTab').then((module) => ({ default: module.PeopleTab })),
)

const TABS = ['log', 'result', 'input', 'graph', 'people', 'json'] as const
type Tab = (typeof TABS)[number]
/** No id: those have hexadecimal digits only. */
const HELD = 'held'
const SILENT = ['WorkflowJob', 'ApprovalJob', 'DummyJob', 'NotificationJob']

export function JobPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const digits = shortIdIn(id)
  // No route and chunk of its own: the first scripts contain the names of all of them.
  if (id === HELD) return <HeldJobsPage />
  return digits ? <ShortId digits={digits} /> : <FullId id={id} />
}

/** An address with a short id leads to its job, or to the list of those that it may mean. */
function ShortId({ digits }: { digits: string }) {
  const query = useQuery(shortIdQuery(digits))
  const place = useAppPath()
  usePageTitle(`#${digits}`)
  return (
    <QueryResult query={query}>
      {(jobs) => {
        if (jobs.length === 1)
          return <Navigate to={place(`/jobs/${jobs[0]!.id}`) as '/'} replace={true} />
        if (jobs.length > 1)
          return (
            <Navigate to={place('/jobs') as '/'} search={{ q: digits } as never} replace={true} />
          )
        return <FullId id={digits} />
      }}
    </QueryResult>
  )
}

function FullId({ id }: { id: string }) {
  const query = useQuery(jobQuery(id))
  const { jobs } = useNavTitles()
  usePageTitle(query.data?.name ?? jobs, jobs)
  return <QueryResult query={query}>{(job) => <JobFrame key={job.id} job={job} />}</QueryResult>
}

function JobFrame({ job }: { job: Job }) {
  const t = useJobText()
  const go = useAppNavigate()
  const { tab: tabParam } = useParams({ strict: false }) as { tab?: string }
  const tabs = tabsOf(job)
  const tab = tabs.find((name) => name === tabParam) ?? first(job)
  return (
    <div className={tab === 'log' ? 'fill jobs-page' : 'jobs-page'}>
      <JobHead job={job} />
      <WaitingNote job={job} />
      {hasFailed(job) ? <WhyFailed job={job} /> : null}
      {job.will_run && !isOver(job) ? <ApprovalPreview planned={job.will_run} /> : null}
      <Tabs
        value={tab}
        onChange={(value) => go(`/jobs/${job.id}/${value}`)}
        keepMounted={false}
        className="jobs-tabs"
      >
        <Tabs.List aria-label={t.tabsLabel}>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} className="jobs-panel">
          <Suspense>
            <Part tab={tab} job={job} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </div>
  )
}

/** Jobs without a process have no output, and only workflows have a graph. */
function tabsOf(job: Job): Tab[] {
  return TABS.filter(
    (name) =>
      (name !== 'graph' || job.workflow_id) && (name !== 'log' || !SILENT.includes(job._type)),
  )
}

function first(job: Job): Tab {
  if (!SILENT.includes(job._type)) return 'log'
  if (job._type === 'WorkflowJob') return 'graph'
  return isOver(job) ? 'result' : 'input'
}

function Part({ tab, job }: { tab: Tab; job: Job }) {
  if (tab === 'result') return <ResultTab job={job} />
  if (tab === 'input') return <InputTab job={job} />
  if (tab === 'graph') return <JobGraphTab job={job} />
  if (tab === 'people') return <PeopleTab job={job} />
  if (tab === 'json') return <JsonTab job={job} />
  return <Log job={job} />
}

function Log({ job }: { job: Job }) {
  const navigate = useNavigate()
  const hash = useLocation({ select: (location) => location.hash })
  const attempt = useLocation({
    select: (location) => (location.search as { attempt?: number }).attempt,
  })
  const isFailed = isOver(job) && !['normal', 'success'].includes(job.state)
  const go = (change: { hash?: string; attempt?: number }) =>
    void navigate({
      to: '.',
      search: ('attempt' in change ? { attempt: change.attempt } : { attempt }) as never,
      hash: change.hash ?? '',
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    })
  return (
    <LogView
      key={attempt ?? 0}
      jobId={job.id}
      attempt={attempt}
      revision={`${job.lifecycle} ${job.state} ${job.attempt_count}`}
      isOver={isOver(job)}
      isWaiting={!job.started_at && !isOver(job)}
      atEnd={isFailed}
      chosen={linesInHash(hash)}
      onChosen={(range) => go({ hash: hashOf(range) })}
      filename={`${job.name.replace(/[^\w.-]+/g, '-')}-${shortId(job.id).slice(1)}.log`}
    >
      <AttemptSelect job={job} attempt={attempt} onAttempt={(n) => go({ attempt: n })} />
    </LogView>
  )
}
