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
  const newest = Math.max(...attempts.map((one) => one.number))
  return (
    <NativeSelect
      size="xs"
      aria-label={t.attempt}
      value={attempt ?? ''}
      onChange={(event) => onAttempt(Number(event.currentTarget.value) || undefined)}
      data={[
        { value: '', label: `${t.attemptN(newest)}, ${t.newest}` },
        ...attempts
          .filter((one) => one.number !== newest)
          .sort((a, b) => b.number - a.number)
          .map((one) => ({
            value: String(one.number),
            label: `${t.attemptN(one.number)} · ${one.state}`,
          })),
      ]}
    />
  )
}
