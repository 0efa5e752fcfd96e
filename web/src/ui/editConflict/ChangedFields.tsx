import { Badge, Group, Stack, Text } from '@mantine/core'
import { changedFields } from './heldVersion'
import './editConflict.css'
import { useText } from './text'

interface Props {
  name: string
  before: unknown
  after: unknown
  isEditedHere?: boolean
}

const valueText = (value: unknown) =>
  typeof value === 'string' ? value || '""' : (JSON.stringify(value, null, 1) ?? '—')

/** One field, as it was and as it is. */
export function ChangedField({ name, before, after, isEditedHere }: Props) {
  const t = useText()
  return (
    <div>
      <Group gap={8}>
        <Text size="sm" fw={600} className="mono">
          {name}
        </Text>
        {isEditedHere ? (
          <Badge size="xs" className="badge-warn">
            {t.alsoEdited}
          </Badge>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed">
        {t.before}
      </Text>
      <pre className="field-was" data-side="before">
        {valueText(before)}
      </pre>
      <Text size="xs" c="dimmed">
        {t.after}
      </Text>
      <pre className="field-was" data-side="after">
        {valueText(after)}
      </pre>
    </div>
  )
}

/** All fields that two versions differ in; those that were edited here too are marked. */
export function ChangedFields({
  before,
  after,
  edits,
}: {
  before: object
  after: object
  edits: object
}) {
  const at = (record: object, name: string) => (record as Record<string, unknown>)[name]
  return (
    <Stack gap="sm">
      {changedFields(before, after).map((name) => (
        <ChangedField
          key={name}
          name={name}
          before={at(before, name)}
          after={at(after, name)}
          isEditedHere={name in edits}
        />
      ))}
    </Stack>
  )
}
