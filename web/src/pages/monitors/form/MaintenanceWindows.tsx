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

export type MaintenanceWindow = Shape<'MaintenanceWindow'>
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** A window in words. */
export function windowText(window: MaintenanceWindow): string {
  if (window.start && window.end) return `${dateTime(window.start)} – ${dateTime(window.end)}`
  const w = useKindText.now().window
  const days = (window.days ?? []).map((day) => w.names[day]).join(', ')
  return w.text(days, window.at ?? '', window.minutes ?? 0, window.timezone ?? 'UTC')
}

function zone(): string {
  return prefs().zone || Intl.DateTimeFormat().resolvedOptions().timeZone
}

function weekly(): MaintenanceWindow {
  return { days: ['sun'], at: '03:00', minutes: 60, timezone: zone() }
}

function once(): MaintenanceWindow {
  const hour = 3_600_000
  const start = Math.ceil(Date.now() / hour) * hour
  return { start: new Date(start).toISOString(), end: new Date(start + hour).toISOString() }
}

export function MaintenanceWindows({
  value,
  onChange,
  errors,
}: {
  value: MaintenanceWindow[]
  onChange: (value: MaintenanceWindow[]) => void
  errors: Record<string, string>
}) {
  const t = useKindText()
  const replace = (i: number, window: MaintenanceWindow) =>
    onChange(value.map((old, n) => (n === i ? window : old)))
  return (
    <Fieldset legend={t.field.maintenance!.label}>
      <Stack gap="sm">
        {value.map((window, i) => (
          <WindowRow
            key={i}
            value={window}
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

interface WindowProps {
  value: MaintenanceWindow
  error?: string
  onChange: (value: MaintenanceWindow) => void
  onRemove: () => void
}

function WindowRow({ value, error, onChange, onRemove }: WindowProps) {
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

function Weekly({ value, error, onChange }: Omit<WindowProps, 'onRemove'>) {
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
          data={['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]}
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
