import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { definitionAuditQuery, type Task } from '../../api/queries/task'
import { useCan } from '../../app/session'
import { Versions } from '../../ui/editor/Versions'
import { Loaded } from '../../ui/Loaded'
import { Changed } from '../../ui/meanwhile/Changed'
import { Ago } from '../../ui/Time'
import { Card } from './Card'
import { changedFields } from './draft'
import { useText } from './text'

/** How the task became what it is: versions of its script, changes of its definition. */
export function HistoryTab({ task }: { task: Task }) {
  const t = useText()
  const can = useCan()
  return (
    <Stack gap={12}>
      {task.type === 'script' ? (
        <Card title={t.past.versions}>
          {task.script_id && can('script.read') ? (
            <Versions id={task.script_id} />
          ) : (
            <Text size="sm">{task.script_id ? t.noSource : t.past.none}</Text>
          )}
        </Card>
      ) : null}
      <Card title={t.past.definition}>
        {can('audit.read') ? <Changes id={task.id} /> : <Text size="sm">{t.past.noAudit}</Text>}
      </Card>
    </Stack>
  )
}

function Changes({ id }: { id: string }) {
  const t = useText()
  const query = useQuery(definitionAuditQuery('task', id))
  return (
    <Loaded query={query} lines={3}>
      {(rows) => {
        const mine = rows.filter((row) => row.object === 'task' && row.object_id === id)
        if (mine.length === 0) return <Text size="sm">{t.past.noChanges}</Text>
        return mine.map((row) => (
          <details key={row.id}>
            <summary>
              <Text span size="sm" fw={600}>
                {row.action}
              </Text>{' '}
              <Text span size="sm" c="dimmed">
                {row.user} · <Ago at={row.date} />
              </Text>
            </summary>
            <Stack gap={8} p="xs">
              {changedFields(asObject(row.before), asObject(row.after)).map((name) => (
                <Changed
                  key={name}
                  name={name}
                  before={asObject(row.before)[name]}
                  after={asObject(row.after)[name]}
                />
              ))}
            </Stack>
          </details>
        ))
      }}
    </Loaded>
  )
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
