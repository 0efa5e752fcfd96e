import { Anchor, Code, List, Stack, Table, Text, Title } from '@mantine/core'
import type { Shape } from '../../../api/client'
import { AppLink } from '../../../ui/AppLink'
import { useText } from './text'

interface Props {
  result: Shape<'Imported'>
  /** A link to a created object was followed. */
  onOpen: () => void
}

/** What an import created, what to check, and every field that it could not keep. */
export function ImportReport({ result, onOpen }: Props) {
  const t = useText()
  const { tasks, workflow, notes, not_imported: skipped } = result
  return (
    <Stack gap="md">
      <List size="sm" aria-label={t.created}>
        {tasks.map((task) => (
          <List.Item key={task.id}>
            {t.task}{' '}
            <Anchor component={AppLink} to={`/tasks/${task.id}`} onClick={onOpen}>
              {task.name}
            </Anchor>
          </List.Item>
        ))}
        {workflow ? (
          <List.Item>
            {t.workflow}{' '}
            <Anchor component={AppLink} to={`/workflows/${workflow.id}`} onClick={onOpen}>
              {workflow.name}
            </Anchor>
          </List.Item>
        ) : null}
      </List>
      {notes.length > 0 ? <Notes notes={notes} /> : null}
      {skipped.length > 0 ? (
        <SkippedFields fields={skipped} />
      ) : (
        <Text size="sm" c="dimmed">
          {t.complete}
        </Text>
      )}
    </Stack>
  )
}

function Notes({ notes }: { notes: string[] }) {
  const t = useText()
  return (
    <section>
      <Title order={3} size="sm">
        {t.notes}
      </Title>
      <List size="sm">
        {notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </section>
  )
}

function SkippedFields({ fields }: { fields: Shape<'SkippedField'>[] }) {
  const t = useText()
  const title = t.notImported(fields.length)
  return (
    <section>
      <Title order={3} size="sm">
        {title}
      </Title>
      <Table.ScrollContainer minWidth={560}>
        <Table aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              {[t.part, t.field, t.value, t.reason].map((heading) => (
                <Table.Th key={heading}>{heading}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map(({ part, field, value, reason }) => (
              <Table.Tr key={`${part} ${field}`}>
                <Table.Td>{part}</Table.Td>
                <Table.Td>{field}</Table.Td>
                <Table.Td>{value ? <Code>{value}</Code> : null}</Table.Td>
                <Table.Td>{reason}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  )
}
