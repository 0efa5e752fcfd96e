import { Button, Group, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useWords } from '../text'
import { Form } from './Form'

interface Props {
  opened?: boolean
  title: string
  /** The word on the button that sends it. */
  action: string
  size?: 'md' | 'lg'
  busy?: boolean
  disabled?: boolean
  children: ReactNode
  onClose: () => void
  onSubmit: () => void
}

/** A form in a dialog: its fields, a way out and a button that sends it. */
export function FormDialog(props: Props) {
  const { opened = true, title, action, size, busy, disabled, children, onClose, onSubmit } = props
  const w = useWords()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={title}
      size={size}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Form onSubmit={() => onSubmit()}>
        <Stack gap="sm">
          {children}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={disabled}>
              {action}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Modal>
  )
}
