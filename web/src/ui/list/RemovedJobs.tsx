import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { removedJobsQuery } from '../../api/queries/job'
import { catalogue, plural } from '../../lib/i18n'
import { Ago } from '../state/Time'

const useText = catalogue(
  {
    removed: (n: number) =>
      `${plural(n, 'older job was', 'older jobs were')} removed by retention or manually, the last`,
    deleting: (done: number, total: number | null) =>
      total === null
        ? `History is being deleted: ${plural(done, 'job', 'jobs')} so far.`
        : `History is being deleted: ${done} of ${plural(total, 'job', 'jobs')}.`,
  },
  {
    removed: (n: number) =>
      `${plural(n, 'trabajo anterior se borró', 'trabajos anteriores se borraron')} por la conservación o a mano, el último`,
    deleting: (done: number, total: number | null) =>
      total === null
        ? `Se está borrando el historial: ${plural(done, 'trabajo', 'trabajos')} hasta ahora.`
        : `Se está borrando el historial: ${done} de ${plural(total, 'trabajo', 'trabajos')}.`,
  },
)

interface Props {
  task?: string | undefined
  workflow?: string | undefined
}

/** The end of a list of jobs: that older ones were removed, or are being deleted now. */
export function RemovedJobs({ task, workflow }: Props) {
  const t = useText()
  const { data } = useQuery(removedJobsQuery({ task, workflow }))
  if (!data?.last_date && !data?.deletion) return null
  return (
    <Text size="xs" c="dimmed" ta="center" p={8}>
      {data.last_date && (
        <>
          {t.removed(data.count)} <Ago at={data.last_date} />.
        </>
      )}{' '}
      {data.deletion && t.deleting(data.deletion.deleted, data.deletion.total)}
    </Text>
  )
}
