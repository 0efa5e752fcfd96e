import { SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useText } from '../text'
import { useCronText } from './cronText'
import { RunPreview } from './RunPreview'
import type { Draft, Mode } from './scheduleDraft'
import { whenOf } from './scheduleDraft'

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export interface PartProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
  errors: Record<string, string>
  readOnly: boolean
}

/** The date, the cron expression or the interval, with what it means. */
export function TimeFields({ draft, set, errors, readOnly }: PartProps) {
  const t = useText()
  const words = useCronText(draft.mode === 'cron' ? draft.repeat : '')
  const choose = (mode: Mode) =>
    set({
      mode,
      repeat: mode === 'every' ? 'every 15 minutes' : mode === 'cron' ? '0 7 * * *' : '',
    })
  return (
    <Stack gap={10}>
      <SegmentedControl
        size="xs"
        aria-label={t.when}
        readOnly={readOnly}
        value={draft.mode}
        onChange={(mode) => choose(mode as Mode)}
        data={(Object.keys(t.modes) as Mode[]).map((value) => ({ value, label: t.modes[value] }))}
      />
      {draft.mode === 'once' ? null : (
        <TextInput
          label={draft.mode === 'cron' ? t.cron : t.every}
          description={draft.mode === 'cron' ? t.cronHint : t.everyHint}
          classNames={{ input: 'mono' }}
          required
          readOnly={readOnly}
          value={draft.repeat}
          error={errors.repeatEvery}
          onChange={(event) => set({ repeat: event.currentTarget.value })}
        />
      )}
      {draft.mode === 'cron' && words ? (
        <Text size="sm" fw={600} role="status" aria-label={t.cron}>
          {words}
        </Text>
      ) : null}
      <TextInput
        type="datetime-local"
        label={draft.mode === 'once' ? t.date : t.from}
        description={t.dateHint}
        required={draft.mode === 'once'}
        readOnly={readOnly}
        value={draft.date}
        error={errors.runDate}
        onChange={(event) => set({ date: event.currentTarget.value })}
      />
      <Select
        label={t.zone}
        searchable
        limit={60}
        allowDeselect={false}
        readOnly={readOnly}
        data={ZONES}
        value={draft.timezone}
        error={errors.timezone}
        onChange={(timezone) => timezone && set({ timezone })}
      />
      <RunPreview when={whenOf(draft)} />
    </Stack>
  )
}
