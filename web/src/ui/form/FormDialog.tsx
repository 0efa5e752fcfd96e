import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useKeys } from '../../app/keys'
import { useWords } from '../text'
import { Form } from './Form'

interface Props {
  opened?: boolean
  title: string
  /** The label of the submit button. */
  action: string
  size?: 'md' | 'lg'
  busy?: boolean
  disabled?: boolean
  /** Why it cannot be sent yet. */
  hint?: string
  children: ReactNode
  onClose: () => void
  onSubmit: () => void
}

/** A form in a dialog: its fields, a way out and a button that sends it, as Ctrl+Enter does. */
export function FormDialog(props: Props) {
  const { opened = true, title, action, size, busy, disabled, hint, children } = props
  const { onClose, onSubmit } = props
  const w = useWords()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <SubmitKey onSubmit={onSubmit} disabled={disabled} />
      <Form onSubmit={() => onSubmit()}>
        <Stack gap="sm">
          {children}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={disabled} title={hint}>
              {action}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  )
}

/** Ctrl+Enter sends the dialog, wherever the focus is; only while it is open. */
function SubmitKey({ onSubmit, disabled }: Pick<Props, 'onSubmit' | 'disabled'>) {
  useKeys({
    'mod+Enter': () => {
      if (!disabled) onSubmit()
    },
  })
  return null
}
