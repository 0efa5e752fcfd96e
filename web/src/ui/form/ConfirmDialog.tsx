import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useWords } from '../text'
import { Dialog } from './Dialog'
import { Form } from './Form'

interface Props {
  opened: boolean
  title: string
  children?: ReactNode
  /** The text that must be entered first, for destructive actions. */
  word?: string
  action: string
  /** The button that changes nothing, where "Cancel" could mean the action. */
  dismiss?: string
  onClose: () => void
  onConfirm: () => void
  busy?: boolean
}

/** Asks before something is lost. */
export function ConfirmDialog({
  opened,
  title,
  children,
  word,
  action,
  dismiss,
  onClose,
  onConfirm,
  busy,
}: Props) {
  const w = useWords()
  const [typed, setTyped] = useState('')
  const close = () => {
    setTyped('')
    onClose()
  }
  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <Form
        onSubmit={() => {
          if (!word || typed === word) onConfirm()
        }}
      >
        <Stack gap="sm">
          <Text size="sm" component="div">
            {children ?? w.cannotUndo}
          </Text>
          {word ? (
            <TextInput
              data-autofocus
              label={w.typeToConfirm(word)}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          ) : null}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={close}>
              {dismiss ?? w.cancel}
            </Button>
            <Button type="submit" color="red.9" loading={busy} disabled={!!word && typed !== word}>
              {action}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}
