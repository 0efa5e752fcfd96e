import { Paper, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Shape } from '../../../api/client'
import { stepJobsQuery } from '../../../api/queries/automation/workflow'
import { errorLineQuery, type LogError } from '../../../api/queries/errorLine'
import { isWorkflow, type Job, scriptQuery } from '../../../api/queries/job'
import { isOver, jobStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { plainText } from '../../../ui/log/lines/ansi'
import { useJobText } from '../jobText'

const FAILED = ['failure', 'error', 'timeout', 'lost']
const MAX_STEPS = 5

/** Whether the job ran a script or steps, and failed or is lost. */
export function hasFailed(job: Job): boolean {
  if (!isOver(job) || !FAILED.includes(job.state)) return false
  return isWorkflow(job) || (job.started_at !== null && !!job.script_id)
}

/** The reasons for a failure; each part is shown also if another could not be loaded. */
export function WhyFailed({ job }: { job: Job }) {
  const t = useJobText()
  return (
    <Paper withBorder className="jobs-why" component="section" aria-label={t.why}>
      <Title order={3} size="h6">
        {t.why}
      </Title>
      {isWorkflow(job) ? <FailedSteps job={job} /> : <FailedScript job={job} />}
    </Paper>
  )
}

/** The first error of the log, the result, and the differences to the last success. */
function FailedScript({ job }: { job: Job }) {
  const t = useJobText()
  const log = useQuery(errorLineQuery(job.id))
  const script = useQuery(scriptQuery(job.id))
  const error = log.data
  const logText = log.isError ? t.whyUnread : error ? t.whyLine[error.kind] : t.whyNoLine
  return (
    <>
      <Text size="sm">{log.isPending ? endOf(job, t) : `${endOf(job, t)} · ${logText}`}</Text>
      {error ? <LogLine job={job} error={error} /> : null}
      {script.data ? <Comparison job={job} script={script.data} /> : null}
      {script.isError ? <Text size="sm">{t.whyNotCompared}</Text> : null}
    </>
  )
}

function LogLine({ job, error }: { job: Job; error: LogError }) {
  return (
    <AppLink
      to={`/jobs/${job.id}/log`}
      hash={`L${error.line}`}
      className="jobs-why-line mono"
      title={`L${error.line}`}
    >
      {plainText(error.text).slice(0, 1000)}
    </AppLink>
  )
}

function endOf(job: Job, t: ReturnType<typeof useJobText>): string {
  const { code, signal } = (job.result ?? {}) as { code?: number | null; signal?: string | number }
  if (job.state === 'timeout') return t.whyTimeout
  if (job.state === 'lost') return t.whyLost
  if (signal) return t.whySignal(String(signal))
  return code === undefined || code === null ? jobStateText(job) : t.whyCode(code)
}

/** The steps of a workflow's run that failed, the first of them first. */
function FailedSteps({ job }: { job: Job }) {
  const t = useJobText()
  const query = useQuery(stepJobsQuery(job.workflow_id ?? '', job.id))
  if (query.isError) return <Text size="sm">{t.whyStepsUnread}</Text>
  if (!query.data) return null
  const failed = query.data.filter((step) => isOver(step) && FAILED.includes(step.state))
  if (failed.length === 0) return <Text size="sm">{t.whyNoStep}</Text>
  return (
    <>
      <Text size="sm">{t.whySteps}</Text>
      <ul className="jobs-why-values">
        {[...failed]
          .sort((a, b) => (a.ended_at ?? '').localeCompare(b.ended_at ?? ''))
          .slice(0, MAX_STEPS)
          .map((step) => (
            <li key={step.id}>
              <AppLink to={`/jobs/${step.id}`}>{step.name}</AppLink> · {jobStateText(step)}
            </li>
          ))}
      </ul>
    </>
  )
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
