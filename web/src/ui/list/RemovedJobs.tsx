import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { removedJobsQuery } from '../../api/queries/job'
import { catalogue, plural } from '../../lib/i18n'
import { Ago } from '../state/Time'

const useText = catalogue(
  {
    removed: (n: number) =>
      `${plural(n, 'older job was', 'older jobs were')} removed by retention or by hand, the last`,
  },
  {
    removed: (n: number) =>
      `${plural(n, 'trabajo anterior se borró', 'trabajos anteriores se borraron')} por la conservación o a mano, el último`,
  },
)

interface Props {
  task?: string | undefined
  workflow?: string | undefined
}

/** The end of a list of jobs: that older ones were removed, if any were. */
export function RemovedJobs({ task, workflow }: Props) {
  const t = useText()
  const { data } = useQuery(removedJobsQuery({ task, workflow }))
  if (!data?.last_date) return null
  return (
    <Text size="xs" c="dimmed" ta="center" p={8}>
      {t.removed(data.count)} <Ago at={data.last_date} />.
    </Text>
  )
}
