import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { DiffView } from '../../ui/editor/DiffView'
import { useText } from './text'
import type { ScriptText } from './useScriptText'

/** Somebody was faster: shows what they changed. */
export function StaleScript({ text }: { text: ScriptText }) {
  const t = useText()
  if (!text.theirs) return null
  return (
    <Modal
      opened
      size="xl"
      title={t.stale}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      onClose={text.takeTheirs}
    >
      <Stack gap="sm">
        <Text size="sm">{t.staleBody}</Text>
        <DiffView before={text.before} after={text.theirs.text} label={t.stale} />
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={text.takeTheirs}>
            {t.theirs}
          </Button>
          <Button onClick={text.keepMine}>{t.keep}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
