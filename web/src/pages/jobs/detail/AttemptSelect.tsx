import { NativeSelect } from '@mantine/core'
import type { Job } from '../../../api/queries/job'
import { useJobText } from '../jobText'

interface Props {
  job: Job
  attempt?: number
  onAttempt: (number: number | undefined) => void
}

/** Which attempt's log is shown; nothing where there was only one. */
export function AttemptSelect({ job, attempt, onAttempt }: Props) {
  const t = useJobText()
  const attempts = job.attempts ?? []
  if (attempts.length < 2) return null
  const newest = Math.max(...attempts.map((attempt) => attempt.number))
  return (
    <NativeSelect
      size="xs"
      aria-label={t.attempt}
      value={attempt ?? ''}
      onChange={(event) => onAttempt(Number(event.currentTarget.value) || undefined)}
      data={[
        { value: '', label: `${t.attemptN(newest)}, ${t.newest}` },
        ...attempts
          .filter((attempt) => attempt.number !== newest)
          .sort((a, b) => b.number - a.number)
          .map((attempt) => ({
            value: String(attempt.number),
            label: `${t.attemptN(attempt.number)} · ${t.attemptStates[attempt.state] ?? attempt.state}`,
          })),
      ]}
    />
  )
}
