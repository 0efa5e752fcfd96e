import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { scriptQuery } from '../../../../api/queries/job'
import { AppLink } from '../../../../ui/AppLink'
import { QueryResult } from '../../../../ui/layout/QueryResult'
import { Section } from '../../../../ui/layout/Section'
import { Ago } from '../../../../ui/state/Time'
import { useJobText } from '../../jobText'

const DiffView = lazy(() =>
  import('../../../../ui/editor/DiffView').then((module) => ({ default: module.DiffView })),
)

/** Whether the script has changed since the last success, and how. */
export function ScriptDiff({ jobId }: { jobId: string }) {
  const t = useJobText()
  const query = useQuery(scriptQuery(jobId))
  return (
    <Section title={t.script} padded>
      <QueryResult query={query} lines={2}>
        {({ job, last_good: good, same }) => {
          if (!good) return <Text size="sm">{t.scriptNoGood}</Text>
          const when = (
            <Text size="xs" c="dimmed" mb={6}>
              <AppLink to={`/jobs/${good.job_id}`}>{t.lastGood}</AppLink>:{' '}
              <Ago at={good.ended_at} />
            </Text>
          )
          if (same)
            return (
              <>
                {when}
                <Text size="sm">{t.scriptSame}</Text>
              </>
            )
          return (
            <>
              {when}
              {job.source != null && good.source != null ? (
                <Suspense>
                  <DiffView before={good.source} after={job.source} label={t.script} />
                </Suspense>
              ) : (
                <Text size="sm">
                  {t.scriptOther} {t.scriptHidden}
                </Text>
              )}
            </>
          )
        }}
      </QueryResult>
    </Section>
  )
}
