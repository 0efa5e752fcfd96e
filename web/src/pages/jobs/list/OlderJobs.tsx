import { Button, Group, Text } from '@mantine/core'
import { dateTime } from '../../../lib/format'
import { useJobsText } from '../listText'

interface Props {
  /** The last job that was looked at. */
  until: string
  isBusy: boolean
  onMore: () => void
}

/** Older jobs may match, too; they are searched on request. */
export function OlderJobs({ until, isBusy, onMore }: Props) {
  const t = useJobsText()
  // Ids begin with their moment.
  const at = dateTime(Number.parseInt(until.slice(0, 12), 16))
  return (
    <Group className="jobs-further" justify="center" gap={8}>
      <Text size="xs" c="dimmed">
        {t.lookedUntil(at)}
      </Text>
      <Button size="compact-xs" variant="default" loading={isBusy} onClick={onMore}>
        {t.searchFurther}
      </Button>
    </Group>
  )
}
