import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { DiffView } from '../../ui/editor/DiffView'
import { useWords } from '../../ui/text'
import { changedFields } from './draft'
import { useText } from './text'
import type { TaskForm } from './useTaskForm'

/** Two edited at once: shows what the other one changed, and lets this one decide. */
export function StaleDialog({ form }: { form: TaskForm }) {
  const t = useText().stale
  const w = useWords()
  const { stale, draft, script } = form
  if (!stale) return null
  const fields = changedFields(draft.base, stale.task)
  const isOtherScript = !!stale.file && script.file && stale.file.version !== script.file.version
  return (
    <Modal
      opened
      size="xl"
      onClose={form.takeTheirs}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={t.title}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Stack gap="sm">
        <Text size="sm">{t.body}</Text>
        {fields.map((name) => (
          <Changed
            key={name}
            name={name}
            before={fieldIn(draft.base, name)}
            after={fieldIn(stale.task, name)}
            isMine={name in draft.edits}
          />
        ))}
        {isOtherScript ? (
          <>
            <Text size="sm" fw={600}>
              {t.script}
            </Text>
            <DiffView before={script.before} after={stale.source} label={t.script} />
          </>
        ) : null}
        {fields.length === 0 && !isOtherScript ? <Text size="sm">{t.nothing}</Text> : null}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={form.takeTheirs}>
            {t.theirs}
          </Button>
          <Button onClick={form.keepMine}>{t.keep}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function fieldIn(record: object, name: string): unknown {
  return (record as Record<string, unknown>)[name]
}

interface ChangedProps {
  name: string
  before: unknown
  after: unknown
  isMine?: boolean
}

const shown = (value: unknown) =>
  typeof value === 'string' ? value || '""' : (JSON.stringify(value, null, 1) ?? '—')

/** One field, as it was and as it is. */
export function Changed({ name, before, after, isMine }: ChangedProps) {
  const t = useText().stale
  return (
    <div>
      <Group gap={8}>
        <Text size="sm" fw={600} className="mono">
          {name}
        </Text>
        {isMine ? (
          <Badge size="xs" className="badge-warn">
            {t.mine}
          </Badge>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed">
        {t.before}
      </Text>
      <pre className="task-was" data-side="before">
        {shown(before)}
      </pre>
      <Text size="xs" c="dimmed">
        {t.after}
      </Text>
      <pre className="task-was" data-side="after">
        {shown(after)}
      </pre>
    </div>
  )
}
