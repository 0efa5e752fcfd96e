import { Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Shape } from '../../../api/client'
import { errorLineQuery, type Job, scriptQuery } from '../../../api/queries/job'
import { isOver } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { plainText } from '../../../ui/log/lines/ansi'
import { useJobText } from '../jobText'

const FAILED = ['failure', 'error', 'timeout']

/** Whether the job ran a script that failed. */
export function hasFailed(job: Job): boolean {
  return isOver(job) && FAILED.includes(job.state) && job.started_at !== null && !!job.script_id
}

/** The first error of the log, how it ended, and what was different when it last succeeded. */
export function WhyFailed({ job }: { job: Job }) {
  const t = useJobText()
  const { data: error } = useQuery(errorLineQuery(job.id))
  const { data: script } = useQuery(scriptQuery(job.id))
  if (error === undefined || script === undefined) return null
  return (
    <Paper withBorder className="jobs-why" component="section" aria-label={t.why}>
      <Title order={3} size="h6">
        {t.why}
      </Title>
      <Text size="sm">{[endOf(job, t), error ? t.whyFirst : t.whyNoLine].join(' · ')}</Text>
      {error ? (
        <AppLink
          to={`/jobs/${job.id}/log`}
          hash={`L${error.line}`}
          className="jobs-why-line mono"
          title={`L${error.line}`}
        >
          {plainText(error.text).slice(0, 1000)}
        </AppLink>
      ) : null}
      <Comparison job={job} script={script} />
    </Paper>
  )
}

function endOf(job: Job, t: ReturnType<typeof useJobText>): string {
  const { code, signal } = (job.result ?? {}) as { code?: number; signal?: string | number }
  if (job.state === 'timeout') return t.whyTimeout
  return signal ? t.whySignal(String(signal)) : t.whyCode(code ?? 0)
}

function Comparison({ job, script }: { job: Job; script: Shape<'Provenance'> }) {
  const t = useJobText()
  if (!script.last_good) return <Text size="sm">{t.whyNone}</Text>
  const lastGood = <AppLink to={`/jobs/${script.last_good.job_id}`}>{t.lastGood}</AppLink>
  if (script.same && script.arguments.length === 0)
    return (
      <Text size="sm">
        {t.whySame} · {lastGood}
      </Text>
    )
  return (
    <>
      {script.same ? null : (
        <Text size="sm">
          {t.whyScript} · <AppLink to={`/jobs/${job.id}/result`}>{t.showDiff}</AppLink> · {lastGood}
        </Text>
      )}
      {script.arguments.length ? (
        <>
          <Text size="sm">{t.whyValues}</Text>
          <ul className="jobs-why-values">
            {script.arguments.map((change) => (
              <li key={change.position}>
                {change.name || t.nth(change.position + 1)}: <del>{change.before || t.empty}</del> →{' '}
                <ins>{change.after || t.empty}</ins>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </>
  )
}
