import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { secretsQuery } from '../../../api/queries/automation/secret'
import { Go } from '../../../ui/AppLink'
import { Ago } from '../../../ui/state/Time'
import { Card } from '../form/FormCard'
import { useText } from '../text'

/** The secrets that only this task's scripts get. */
export function TaskSecrets({ taskId }: { taskId: string }) {
  const t = useText()
  const { data = [] } = useQuery(secretsQuery)
  const mine = data.filter((one) => one.task_id === taskId)
  return (
    <Card title={t.secrets}>
      <Text size="xs" c="dimmed">
        {t.secretsHint}
      </Text>
      {mine.length ? (
        mine.map((one) => (
          <Group key={one.id} justify="space-between" wrap="nowrap">
            <Text size="sm" className="mono clip">
              {one.name}
            </Text>
            <Text size="xs" c="dimmed">
              <Ago at={one.last_update} />
            </Text>
          </Group>
        ))
      ) : (
        <Text size="sm" c="dimmed">
          {t.noSecrets}
        </Text>
      )}
      <Button
        component={Go}
        to="/secrets"
        search={{ task: taskId, set: true }}
        variant="default"
        size="compact-sm"
        leftSection={<KeyRound size={12} />}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.addSecret}
      </Button>
    </Card>
  )
}
