import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { secretsQuery } from '../../../api/queries/automation/secret'
import { AppLink } from '../../../ui/AppLink'
import { Ago } from '../../../ui/state/Time'
import { FormCard } from '../form/FormCard'
import { useText } from '../text'

/** The secrets that only this task's scripts get. */
export function TaskSecrets({ taskId }: { taskId: string }) {
  const t = useText()
  const { data = [] } = useQuery(secretsQuery)
  const secrets = data.filter((secret) => secret.task_id === taskId)
  return (
    <FormCard title={t.secrets}>
      <Text size="xs" c="dimmed">
        {t.secretsHint}
      </Text>
      {secrets.length ? (
        secrets.map((secret) => (
          <Group key={secret.id} justify="space-between" wrap="nowrap">
            <Text size="sm" className="mono clip">
              {secret.name}
            </Text>
            <Text size="xs" c="dimmed">
              <Ago at={secret.last_update} />
            </Text>
          </Group>
        ))
      ) : (
        <Text size="sm" c="dimmed">
          {t.noSecrets}
        </Text>
      )}
      <Button
        component={AppLink}
        to="/secrets"
        search={{ task: taskId, set: true }}
        variant="default"
        size="compact-sm"
        leftSection={<KeyRound size={12} />}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.addSecret}
      </Button>
    </FormCard>
  )
}
