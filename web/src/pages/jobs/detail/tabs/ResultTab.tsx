import { Stack, Table, Text } from '@mantine/core'
import { Flag } from 'lucide-react'
import type { Job } from '../../../../api/queries/job'
import { dateTime, duration } from '../../../../lib/format'
import { isOver, jobStateText } from '../../../../lib/state'
import { valueBlock, valueText } from '../../../../lib/valueText'
import { EmptyState } from '../../../../ui/layout/EmptyState'
import { Section } from '../../../../ui/layout/Section'
import { plainText } from '../../../../ui/log/lines/ansi'
import { Duration } from '../../../../ui/state/Time'
import { useJobText } from '../../jobText'
import { type Fact, Facts } from './Facts'
import { JobFiles } from './JobFiles'
import { ScriptDiff } from './ScriptDiff'

interface Result {
  code?: number | null
  lastline?: string
  signal?: string | number | null
  killed?: boolean
  times?: Record<string, number> | number
  kill_incomplete?: unknown
}

/** The result, the output, the files, and whether the script has changed since the last run. */
export function ResultTab({ job }: { job: Job }) {
  const t = useJobText()
  if (!isOver(job))
    return (
      <EmptyState icon={Flag} title={t.noResult}>
        {t.noResultBody}
      </EmptyState>
    )
  return (
    <Stack gap="md">
      <Section title={t.tabs.result} padded>
        <Facts facts={factsOf(job, t)} />
        {job.result ? null : (
          <Text size="sm" c="dimmed" mt="sm">
            {t.neverRan}. {t.neverRanBody}
          </Text>
        )}
      </Section>
      <Output output={job.output} />
      {job.script_id ? <JobFiles jobId={job.id} /> : null}
      {job.script_id ? <ScriptDiff jobId={job.id} /> : null}
      <Attempts job={job} />
    </Stack>
  )
}

function factsOf(job: Job, t: ReturnType<typeof useJobText>): Fact[] {
  const result = (job.result ?? {}) as Result
  const facts: (Fact | null)[] = [
    { name: t.state, value: jobStateText(job) },
    'code' in result ? { name: t.code, value: String(result.code ?? '—'), mono: true } : null,
    result.signal ? { name: t.signal, value: String(result.signal), mono: true } : null,
    result.killed ? { name: t.killed, value: t.yes } : null,
    result.lastline
      ? { name: t.lastline, value: plainText(result.lastline.slice(0, 2000)), mono: true }
      : null,
    timeOf(result) ? { name: t.wall, value: timeOf(result) } : null,
    job.ended_at ? { name: t.ended, value: dateTime(job.ended_at) } : null,
    job.trigger_name ? { name: t.trigger, value: job.trigger_name, mono: true } : null,
  ]
  return facts.filter((fact) => fact !== null)
}

function timeOf({ times }: Result): string {
  const seconds = typeof times === 'number' ? times : (times?.wall ?? times?.seconds)
  if (typeof seconds !== 'number') return ''
  const rest = typeof times === 'object' && times.wall === undefined ? times.nanoseconds : 0
  return duration(seconds * 1000 + (rest ?? 0) / 1e6)
}

function Output({ output }: { output: unknown }) {
  const t = useJobText()
  const values = Array.isArray(output) ? output : output == null ? [] : [output]
  if (values.length === 0) return null
  return (
    <Section title={t.output} padded>
      <ol className="jobs-values">
        {values.map((value, i) => (
          <li key={i}>
            <pre>{valueBlock(valueText(value))}</pre>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function Attempts({ job }: { job: Job }) {
  const t = useJobText()
  const attempts = job.attempts ?? []
  if (attempts.length < 2) return null
  return (
    <Section title={t.attempts}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.attempt}</Table.Th>
            <Table.Th>{t.state}</Table.Th>
            <Table.Th>{t.ended}</Table.Th>
            <Table.Th>{t.wall}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {attempts.map((attempt) => (
            <Table.Tr key={attempt.number}>
              <Table.Td>{attempt.number}</Table.Td>
              <Table.Td>{t.attemptStates[attempt.state] ?? attempt.state}</Table.Td>
              <Table.Td>{attempt.ended_at ? dateTime(attempt.ended_at) : '—'}</Table.Td>
              <Table.Td>
                <Duration from={attempt.started_at} to={attempt.ended_at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  )
}
