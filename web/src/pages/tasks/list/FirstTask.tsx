import { Box, Group, Paper, SimpleGrid, Text, UnstyledButton } from '@mantine/core'
import { Code, FileCode2, Globe, Megaphone, TextCursorInput, UserCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { useText } from '../text'

const ICONS = {
  shell: Code,
  python: FileCode2,
  request: Globe,
  approval: UserCheck,
  notification: Megaphone,
  input: TextCursorInput,
}

/** No task yet: an explanation, and six ways to begin. */
export function FirstTask({ importButton }: { importButton: ReactNode }) {
  const t = useText()
  const may = useCan()('task.edit')
  return (
    <Paper withBorder p="md">
      <EmptyState icon={Code} title={may ? t.first : t.noTasks}>
        {may ? t.firstBody : t.firstViewer}
      </EmptyState>
      {may ? (
        <Box maw={820} mx="auto">
          <Templates />
        </Box>
      ) : null}
      <Group justify="center" mt="md">
        {importButton}
      </Group>
    </Paper>
  )
}

export function Templates() {
  const t = useText()
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" maw={820}>
      {Object.entries(ICONS).map(([name, Icon]) => {
        const [title, body] = t.templates[name]!
        return (
          <UnstyledButton
            key={name}
            component={AppLink}
            to="/tasks/new"
            search={{ template: name }}
            className="tasks-template"
          >
            <Icon size={18} strokeWidth={1.6} aria-hidden="true" />
            <span>
              <Text size="sm" fw={600}>
                {title}
              </Text>
              <Text size="xs" c="dimmed">
                {body}
              </Text>
            </span>
          </UnstyledButton>
        )
      })}
    </SimpleGrid>
  )
}
