import { Group, Stack, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, ok, type Shape } from '../../api/client'
import { isOver, jobLook, jobStateText } from '../../lib/state'
import { StateIcon } from '../state/StateIcon'
import { Duration } from '../state/Time'
import './run.css'
import { useLastLines } from './lastLines'
import { useText } from './text'

const LINES = 20

type Job = Shape<'JobRecord'>

export const jobTailQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id],
    queryFn: () => ok<Job>(api.GET('/job/{id}', { params: { path: { id } } })),
  })

/** The progress of a job: its state and the last lines of its output. */
export function JobTail({ job: first }: { job: Job }) {
  const { data: job = first } = useQuery({ ...jobTailQuery(first.id), initialData: first })
  return (
    <Stack gap={8}>
      <Group gap={8} role="status">
        <StateIcon look={jobLook(job)} />
        <Text size="sm" fw={600}>
          {jobStateText(job)}
        </Text>
        <Text size="sm" c="dimmed">
          {job.hostname} <Duration from={job.started_at ?? job.creation_date} to={job.ended_at} />
        </Text>
      </Group>
      {job.task_id ? <Output job={job} /> : <Steps />}
    </Stack>
  )
}

function Output({ job }: { job: Job }) {
  const t = useText()
  const { lines, isOver: isEnd } = useLastLines(job.id, LINES)
  const nothing = isEnd || isOver(job) ? t.endedWithoutOutput : t.noOutput
  return (
    <section className="run-tail mono" aria-label={t.output} tabIndex={0}>
      {lines.length ? lines.join('\n') : <Text c="dimmed">{nothing}</Text>}
    </section>
  )
}

function Steps() {
  const t = useText()
  return (
    <Text size="sm" c="dimmed">
      {t.steps}
    </Text>
  )
}
