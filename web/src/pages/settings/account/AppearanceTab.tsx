import { SegmentedControl, Select, Stack, Switch, Text } from '@mantine/core'
import { dateTime } from '../../../lib/format'
import { type Prefs, setPrefs, usePrefs } from '../../../lib/prefs'
import { Section } from '../../../ui/layout/Section'
import { useText } from '../text'

const ZONES = Intl.supportedValuesOf('timeZone')

/** One row of choices; each takes effect at once and stays in this browser. */
function Choice<K extends keyof Prefs>({
  name,
  label,
  data,
}: {
  name: K
  label: string
  data: [Prefs[K] & string, string][]
}) {
  const prefs = usePrefs()
  return (
    <div>
      <Text size="sm" fw={500} mb={4} id={`choice-${name}`}>
        {label}
      </Text>
      <SegmentedControl
        aria-labelledby={`choice-${name}`}
        size="xs"
        value={String(prefs[name])}
        onChange={(value) => setPrefs({ [name]: value } as Partial<Prefs>)}
        data={data.map(([value, text]) => ({ value, label: text }))}
      />
    </div>
  )
}

export function AppearanceTab() {
  const t = useText()
  const prefs = usePrefs()
  return (
    <Section title={t.tabs.appearance} padded>
      <Stack gap="md">
        <Choice
          name="scheme"
          label={t.scheme}
          data={[
            ['light', t.light],
            ['dark', t.dark],
            ['auto', t.auto],
          ]}
        />
        <Choice
          name="density"
          label={t.density}
          data={[
            ['compact', t.compact],
            ['normal', t.normal],
            ['comfortable', t.comfortable],
          ]}
        />
        <Choice
          name="language"
          label={t.language}
          data={[
            ['en', 'English'],
            ['es', 'Español'],
          ]}
        />
        <Choice
          name="clock"
          label={t.clock}
          data={[
            ['auto', t.clockAuto],
            ['24', '24 h'],
            ['12', '12 h'],
          ]}
        />
        <Select
          size="xs"
          maw={320}
          label={t.zone}
          description={`${t.example}: ${dateTime(Date.now())}`}
          searchable
          clearable
          placeholder={t.browserZone}
          data={ZONES}
          value={prefs.zone || null}
          onChange={(zone) => setPrefs({ zone: zone ?? '' })}
        />
        <Switch
          label={t.keys}
          description={t.keysHelp}
          checked={prefs.keys}
          onChange={(event) => setPrefs({ keys: event.currentTarget.checked })}
        />
        <Switch
          label={t.motion}
          description={t.motionHelp}
          checked={prefs.motion}
          onChange={(event) => setPrefs({ motion: event.currentTarget.checked })}
        />
      </Stack>
    </Section>
  )
}
