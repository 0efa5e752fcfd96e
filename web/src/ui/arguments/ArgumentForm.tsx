import { Stack, Text } from '@mantine/core'
import { ArgumentField } from './ArgumentField'
import { useText } from './text'
import { type Argument, fieldOf } from './values'

interface Props {
  arguments: Argument[]
  /** One value per definition, in their order; see firstValues. It is what POST /job takes. */
  value: unknown[]
  onChange: (value: unknown[]) => void
  /** By field, as faultsOf and the server's refusals name them: `task_arguments[0]`. */
  errors?: Record<string, string>
}

/** One field for each argument of a task. */
export function ArgumentForm({ arguments: definitions, value, onChange, errors = {} }: Props) {
  const t = useText()
  if (definitions.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t.none}
      </Text>
    )
  return (
    <Stack gap="sm">
      {definitions.map((argument, n) => (
        <ArgumentField
          key={n}
          definition={argument}
          index={n}
          value={value[n]}
          error={errors[fieldOf(n)]}
          onChange={(next) => onChange(definitions.map((_, i) => (i === n ? next : value[i])))}
        />
      ))}
    </Stack>
  )
}
