import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useKeys } from '../../app/keys'
import { useWords } from '../text'
import { Dialog } from './Dialog'
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

/** A form in a dialog: its fields, a way out and a button that sends it, as Ctrl+Enter and Ctrl+S do. */
export function FormDialog(props: Props) {
  const { opened = true, title, action, size, busy, disabled, hint, children } = props
  const { onClose, onSubmit } = props
  const w = useWords()
  return (
    <Dialog opened={opened} onClose={onClose} title={title} size={size}>
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
    </Dialog>
  )
}

/** Ctrl+Enter and Ctrl+S send the dialog, wherever the focus is; only while it is open. */
function SubmitKey({ onSubmit, disabled }: Pick<Props, 'onSubmit' | 'disabled'>) {
  const send = () => {
    if (!disabled) onSubmit()
  }
  useKeys({ 'mod+Enter': send, 'mod+s': send })
  return null
}
