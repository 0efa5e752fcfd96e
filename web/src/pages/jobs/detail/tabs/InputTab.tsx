import { Table, Text } from '@mantine/core'
import type { Job } from '../../../../api/queries/job'
import { valueBlock, valueText } from '../../../../lib/valueText'
import { type Argument, nameOf } from '../../../../ui/arguments/values'
import { Section } from '../../../../ui/layout/Section'
import { useJobText } from '../../jobText'

/** The values that the job got. */
export function InputTab({ job }: { job: Job }) {
  const t = useJobText()
  const values = job.task_arguments_values ?? []
  const definitions = (job.task?.task_arguments ?? []) as Argument[]
  return (
    <Section title={t.tabs.input}>
      {values.length === 0 ? (
        <Text size="sm" c="dimmed" p="md">
          {t.noInput}
        </Text>
      ) : (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={220}>{t.argument}</Table.Th>
              <Table.Th>{t.value}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {values.map((value, n) => (
              <Table.Tr key={n}>
                <Table.Td>{definitions[n] ? nameOf(definitions[n], n) : n + 1}</Table.Td>
                <Table.Td>
                  {definitions[n]?.masked ? (
                    <Text size="sm" c="dimmed">
                      {t.masked}
                    </Text>
                  ) : (
                    <pre className="jobs-value">
                      {valueBlock(valueText(value)).slice(0, 20_000)}
                    </pre>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  )
}
