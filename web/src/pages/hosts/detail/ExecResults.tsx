import { Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { Shape } from '../../../api/client'
import { readJobs } from '../../../api/queries/job'
import { isOver, jobLook, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { useLastLines } from '../../../ui/run/lastLines'
import '../../../ui/run/run.css'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useText } from '../text'

type Job = Shape<'JobRecord'>
const LINES = 100
/** Until all have ended; events usually arrive sooner. */
const POLL_MS = 2_000

/** The jobs of a command, live. One at a time shows its output: each needs a connection. */
export function ExecResults({ jobs: first }: { jobs: Job[] }) {
  const ids = first.map((job) => job.id)
  const { data: jobs = first } = useQuery({
    queryKey: ['job', 'exec', ids],
    queryFn: () => readJobs(ids),
    initialData: first,
    refetchInterval: ({ state }) => (state.data?.every(isOver) ? false : POLL_MS),
  })
  const [opened, setOpened] = useState<string | null>(ids[0] ?? null)
  return jobs
    .toSorted((a, b) => (a.hostname ?? '').localeCompare(b.hostname ?? ''))
    .map((job) => (
      <ExecResult
        key={job.id}
        job={job}
        isOpened={job.id === opened}
        onToggle={() => setOpened(job.id === opened ? null : job.id)}
      />
    ))
}

interface Props {
  job: Job
  isOpened: boolean
  onToggle: () => void
}

function ExecResult({ job, isOpened, onToggle }: Props) {
  const t = useText()
  const Chevron = isOpened ? ChevronDown : ChevronRight
  return (
    <div>
      <div className="row host-job">
        <StateIcon look={jobLook(job)} title={jobStateText(job)} />
        <UnstyledButton
          className="clip"
          aria-expanded={isOpened}
          aria-label={t.showOutput(job.hostname ?? '')}
          onClick={onToggle}
        >
          <Chevron size={12} /> {job.hostname} · {jobStateText(job)}
        </UnstyledButton>
        <AppLink to={`/jobs/${job.id}`}>{t.openJob}</AppLink>
      </div>
      {isOpened ? <ExecOutput job={job} /> : null}
    </div>
  )
}

function ExecOutput({ job }: { job: Job }) {
  const t = useText()
  const { lines, isOver: isEnd } = useLastLines(job.id, LINES)
  const nothing = isEnd || isOver(job) ? t.silent : t.noOutput
  return (
    <section className="run-tail mono host-exec-lines" aria-label={job.hostname ?? ''} tabIndex={0}>
      {lines.length ? lines.join('\n') : <Text c="dimmed">{nothing}</Text>}
    </section>
  )
}
