import { Text } from '@mantine/core'
import type { Shape } from '../../../../api/client'
import { Go } from '../../../../ui/AppLink'
import { Section } from '../../../../ui/layout/Section'
import { useJobText } from '../../jobText'
import { type Fact, Facts } from './Facts'
import { shown } from './valueText'

type Planned = Shape<'Planned'>

/** Exactly what runs when somebody says yes. */
export function WillRun({ planned }: { planned: Planned[] }) {
  const t = useJobText()
  return (
    <Section title={t.willRun} padded>
      <Text size="sm" c="dimmed" mb="sm">
        {planned.length ? t.willRunBody : t.nothingRuns}
      </Text>
      <ol className="jobs-plan">
        {planned.map((one, i) => (
          <li key={i}>
            <Go to={`/tasks/${one.task_id}`}>
              <b>{one.name}</b>
            </Go>{' '}
            <Text span size="xs" c="dimmed">
              {t.version(one.task_version)}
            </Text>
            <Facts facts={factsOf(one, t)} />
          </li>
        ))}
      </ol>
    </Section>
  )
}

function factsOf(one: Planned, t: ReturnType<typeof useJobText>): Fact[] {
  const script = [
    one.script_filename,
    one.script_sha256 && `sha256 ${one.script_sha256.slice(0, 16)}…`,
  ]
  const values = one.arguments == null ? t.argumentsLater : one.arguments.map(shown).join('  ·  ')
  const facts: [string, string | null | undefined][] = [
    [t.host, one.hostname],
    ['Script', script.filter(Boolean).join(' · ')],
    [t.runAs, [one.script_runas, one.os_user].filter(Boolean).join(' · ')],
    ['URL', one.url],
    [t.arguments, values],
  ]
  return facts.filter(([, value]) => value).map(([name, value]) => ({ name, value: value! }))
}
