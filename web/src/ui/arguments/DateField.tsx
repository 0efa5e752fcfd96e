import { Group, Input, TextInput } from '@mantine/core'
import { type FieldProps, useFieldProps } from './fieldProps'
import { useText } from './text'

/** A day, or a moment on this browser's clock: "2026-01-31" or its instant in UTC. */
export function DateField(props: FieldProps) {
  const t = useText()
  const common = useFieldProps(props)
  const { day, clock } = parts(String(props.value ?? ''))
  const set = (nextDay: string, nextClock: string) => props.onChange(toDateTime(nextDay, nextClock))
  return (
    <Input.Wrapper
      label={common.label}
      description={common.description}
      error={common.error}
      withAsterisk={common.withAsterisk}
      labelElement="div"
    >
      <Group gap={8} mt={4} wrap="nowrap">
        <TextInput
          type="date"
          aria-label={`${common.label}: ${t.date}`}
          flex={2}
          readOnly={common.readOnly}
          error={!!common.error}
          value={day}
          onChange={(event) => set(event.currentTarget.value, clock)}
        />
        <TextInput
          type="time"
          aria-label={`${common.label}: ${t.time}`}
          flex={1}
          readOnly={common.readOnly}
          disabled={!day}
          value={clock}
          onChange={(event) => set(day, event.currentTarget.value)}
        />
      </Group>
    </Input.Wrapper>
  )
}

const two = (n: number) => String(n).padStart(2, '0')

export function parts(value: string): { day: string; clock: string } {
  if (!value.includes('T')) return { day: value.slice(0, 10), clock: '' }
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return { day: '', clock: '' }
  return {
    day: `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    clock: `${two(at.getHours())}:${two(at.getMinutes())}`,
  }
}

export function toDateTime(day: string, clock: string): string {
  if (!day || !clock) return day
  const at = new Date(`${day}T${clock}`)
  return Number.isNaN(at.getTime()) ? day : at.toISOString()
}
