import { Badge, Paper, Stack, Text, Title } from '@mantine/core'
import type { Indicator } from '../../../api/queries/monitoring/indicator'
import { AppLink } from '../../../ui/AppLink'
import { useText } from '../text'

/** Tasks and workflows that list one of its events as a trigger. */
export function IndicatorTriggers({ indicator }: { indicator: Indicator }) {
  const t = useText()
  return (
    <Paper withBorder p="md">
      <Stack gap={8}>
        <Title order={2} size="h6">
          {t.starts}
        </Title>
        {indicator.triggers.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t.startsNone}
          </Text>
        ) : (
          indicator.triggers.map(({ event_name, task_id, workflow_id }) => (
            <AppLink
              key={`${event_name} ${task_id ?? workflow_id}`}
              to={task_id ? `/tasks/${task_id}` : `/workflows/${workflow_id}`}
              className="ind-start"
            >
              <Badge size="sm">{t.on(event_name)}</Badge>
              <code className="clip">{task_id ?? workflow_id}</code>
            </AppLink>
          ))
        )}
      </Stack>
    </Paper>
  )
}
