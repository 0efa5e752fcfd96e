import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { firstStepsQuery } from '../../../api/queries/firstSteps'
import { useHasLevel } from '../../../app/session'
import { RemoveDemo } from '../../../ui/demo/RemoveDemo'
import { Section } from '../../../ui/layout/Section'
import { useText } from '../text'

/** As long as objects of the demo exist. */
export function DemoSection() {
  const t = useText()
  const isAdmin = useHasLevel('admin')
  const { data } = useQuery({ ...firstStepsQuery, enabled: isAdmin })
  if (!data?.demo) return null
  return (
    <Section title={t.demo} padded>
      <Group justify="space-between">
        <Text size="sm">{t.demoBody(data.demo)}</Text>
        <RemoveDemo />
      </Group>
    </Section>
  )
}
