import { Text } from '@mantine/core'
import type { Shape } from '../../../../api/client'
import { valueText } from '../../../../lib/valueText'
import { AppLink } from '../../../../ui/AppLink'
import { Section } from '../../../../ui/layout/Section'
import { useJobText } from '../../jobText'
import { type Fact, Facts } from './Facts'

type Planned = Shape<'PlannedTask'>

/** The exact plan of an approval. */
export function ApprovalPreview({ planned }: { planned: Planned[] }) {
  const t = useJobText()
  return (
    <Section title={t.willRun} padded>
      <Text size="sm" c="dimmed" mb="sm">
        {planned.length ? t.willRunBody : t.nothingRuns}
      </Text>
      <ol className="jobs-plan">
        {planned.map((plan, i) => (
          <li key={i}>
            <AppLink to={`/tasks/${plan.task_id}`}>
              <b>{plan.name}</b>
            </AppLink>{' '}
            <Text span size="xs" c="dimmed">
              {t.version(plan.task_version)}
            </Text>
            <Facts facts={factsOf(plan, t)} />
          </li>
        ))}
      </ol>
    </Section>
  )
}

function factsOf(plan: Planned, t: ReturnType<typeof useJobText>): Fact[] {
  const script = [
    plan.script_filename,
    plan.script_sha256 && `sha256 ${plan.script_sha256.slice(0, 16)}…`,
  ]
  const values =
    plan.arguments == null ? t.argumentsLater : plan.arguments.map(valueText).join('  ·  ')
  const facts: [string, string | null | undefined][] = [
    [t.host, plan.hostname],
    ['Script', script.filter(Boolean).join(' · ')],
    [t.runAs, [plan.script_runas, plan.os_user].filter(Boolean).join(' · ')],
    ['URL', plan.url],
    [t.arguments, values],
  ]
  return facts.filter(([, value]) => value).map(([name, value]) => ({ name, value: value! }))
}
