import { Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, ExternalLink } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Shape } from '../../api/client'
import { shortId } from '../../lib/jobId'
import { AppLink } from '../AppLink'
import { Dialog } from '../form/Dialog'
import { QueryResult } from '../layout/QueryResult'
import { useWords } from '../text'
import { JobTail } from './JobTail'
import { RunForm } from './RunForm'
import { type JobValues, runnableQuery, type Target } from './target'
import { useText } from './text'

interface Props {
  target: Target
  /** A job whose values the form begins with. */
  from?: JobValues
  opened: boolean
  onClose: () => void
}

/** Asks for the arguments, starts the job, and shows its progress. */
export function RunDialog({ target, from, opened, onClose }: Props) {
  const t = useText()
  return (
    <Dialog opened={opened} onClose={onClose} title={titleOf(t, target, from)} size="lg">
      {opened ? <Inside target={target} from={from} onClose={onClose} /> : null}
    </Dialog>
  )
}

function titleOf(t: ReturnType<typeof useText>, target: Target, from: JobValues | undefined) {
  if (from?.step) return t.stepTitle(from.step.nodeId)
  return from ? t.sameTitle(target.name, shortId(from.id)) : t.title(target.name)
}

function Inside({ target, from, onClose }: Omit<Props, 'opened'>) {
  const query = useQuery(runnableQuery(target))
  const [job, setJob] = useState<Shape<'JobRecord'> | null>(null)
  if (job) return <StartedJobs job={job} onBack={() => setJob(null)} onClose={onClose} />
  return (
    <QueryResult query={query} lines={4}>
      {(runnable) => (
        <RunForm
          target={target}
          runnable={from?.step ? { ...runnable, acl: from.step.acl } : runnable}
          from={from}
          onStarted={setJob}
          onClose={onClose}
        />
      )}
    </QueryResult>
  )
}

function StartedJobs({
  job,
  onBack,
  onClose,
}: {
  job: Shape<'JobRecord'>
  onBack: () => void
  onClose: () => void
}) {
  const t = useText()
  const w = useWords()
  useEffect(() => document.getElementById('run-open')?.focus(), [])
  return (
    <Stack gap="sm">
      <JobTail job={job} />
      <Group justify="flex-end" gap={8}>
        <Button variant="subtle" leftSection={<ArrowLeft size={14} />} onClick={onBack} mr="auto">
          {t.again}
        </Button>
        <Button variant="default" onClick={onClose}>
          {w.close}
        </Button>
        <Button
          id="run-open"
          component={AppLink}
          to={`/jobs/${job.id}`}
          leftSection={<ExternalLink size={14} />}
        >
          {t.open}
        </Button>
      </Group>
    </Stack>
  )
}
