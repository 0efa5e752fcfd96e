import { Modal, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyField } from '../form/CopyField'
import { useWords } from '../text'

interface Props {
  title: string
  /** null: closed. */
  value: string | null
  children: ReactNode
  onClose: () => void
}

/** Something secret that is shown once: it leaves the page's memory when the dialog closes. */
export function OneTimeLink({ title, value, children, onClose }: Props) {
  const w = useWords()
  return (
    <Modal
      opened={value !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        {value ? <CopyField value={value} label={title} /> : null}
      </Stack>
    </Modal>
  )
}
