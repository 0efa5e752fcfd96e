import {
  ActionIcon,
  Button,
  Chip,
  Fieldset,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
} from '@mantine/core'
import { Plus, X } from 'lucide-react'
import type { Shape } from '../../../api/client'
import { dateTime } from '../../../lib/format'
import { prefs } from '../../../lib/prefs'
import { useKindText } from './kindText'

export type Window = Shape<'Window'>
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** A window in words. */
export function windowWords(one: Window): string {
  if (one.start && one.end) return `${dateTime(one.start)} – ${dateTime(one.end)}`
  const w = useKindText.now().window
  const days = (one.days ?? []).map((day) => w.names[day]).join(', ')
  return w.said(days, one.at ?? '', one.minutes ?? 0, one.timezone ?? 'UTC')
}

function zone(): string {
  return prefs().zone || Intl.DateTimeFormat().resolvedOptions().timeZone
}

function weekly(): Window {
  return { days: ['sun'], at: '03:00', minutes: 60, timezone: zone() }
}

function once(): Window {
  const hour = 3_600_000
  const start = Math.ceil(Date.now() / hour) * hour
  return { start: new Date(start).toISOString(), end: new Date(start + hour).toISOString() }
}

export function Windows({
  value,
  onChange,
  errors,
}: {
  value: Window[]
  onChange: (value: Window[]) => void
  errors: Record<string, string>
}) {
  const t = useKindText()
  const replace = (i: number, one: Window) => onChange(value.map((old, n) => (n === i ? one : old)))
  return (
    <Fieldset legend={t.field.maintenance!.label}>
      <Stack gap="sm">
        {value.map((one, i) => (
          <OneWindow
            key={i}
            value={one}
            error={errors[`maintenance[${i}]`]}
            onChange={(next) => replace(i, next)}
            onRemove={() => onChange(value.filter((_, n) => n !== i))}
          />
        ))}
        <Group>
          <Button
            variant="default"
            leftSection={<Plus size={14} />}
            onClick={() => onChange([...value, weekly()])}
          >
            {t.window.add}
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}

interface OneProps {
  value: Window
  error?: string
  onChange: (value: Window) => void
  onRemove: () => void
}

function OneWindow({ value, error, onChange, onRemove }: OneProps) {
  const w = useKindText().window
  const isOnce = Boolean(value.start)
  return (
    <Stack gap={6}>
      <Group gap={8}>
        <SegmentedControl
          size="xs"
          aria-label={w.when}
          value={isOnce ? 'once' : 'weekly'}
          onChange={(how) => onChange(how === 'once' ? once() : weekly())}
          data={[
            { value: 'weekly', label: w.weekly },
            { value: 'once', label: w.once },
          ]}
        />
        <ActionIcon aria-label={w.remove} onClick={onRemove}>
          <X size={14} />
        </ActionIcon>
      </Group>
      {isOnce ? (
        <Group gap={8} align="flex-start">
          <Moment
            label={w.start}
            value={value.start!}
            error={error}
            onChange={(start) => onChange({ ...value, start })}
          />
          <Moment
            label={w.end}
            value={value.end!}
            onChange={(end) => onChange({ ...value, end })}
          />
        </Group>
      ) : (
        <Weekly value={value} error={error} onChange={onChange} />
      )}
    </Stack>
  )
}

function Weekly({ value, error, onChange }: Omit<OneProps, 'onRemove'>) {
  const w = useKindText().window
  return (
    <>
      <Chip.Group multiple value={value.days} onChange={(days) => onChange({ ...value, days })}>
        <Group gap={4} role="group" aria-label={w.days}>
          {DAYS.map((day) => (
            <Chip key={day} value={day} size="xs">
              {w.names[day]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Group gap={8} align="flex-start">
        <TextInput
          type="time"
          label={w.at}
          value={value.at}
          error={error}
          onChange={(event) => onChange({ ...value, at: event.currentTarget.value })}
        />
        <NumberInput
          w={110}
          label={w.minutes}
          min={1}
          value={value.minutes}
          onChange={(minutes) => onChange({ ...value, minutes: Number(minutes) })}
        />
        <Select
          label={w.zone}
          searchable
          allowDeselect={false}
          data={['UTC', ...Intl.supportedValuesOf('timeZone').filter((one) => one !== 'UTC')]}
          value={value.timezone}
          onChange={(timezone) => onChange({ ...value, timezone: timezone ?? 'UTC' })}
        />
      </Group>
    </>
  )
}

/** The browser's own field for a moment, in its zone. */
function Moment({
  label,
  value,
  error,
  onChange,
}: {
  label: string
  value: string
  error?: string
  onChange: (iso: string) => void
}) {
  const at = new Date(value)
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  return (
    <TextInput
      type="datetime-local"
      label={label}
      error={error}
      value={local}
      onChange={(event) => {
        const typed = new Date(event.currentTarget.value)
        if (!Number.isNaN(typed.getTime())) onChange(typed.toISOString())
      }}
    />
  )
}
