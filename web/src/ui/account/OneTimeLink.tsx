import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyField } from '../form/CopyField'
import { Dialog } from '../form/Dialog'

interface Props {
  title: string
  /** null: closed. */
  value: string | null
  children: ReactNode
  onClose: () => void
}

/** Something secret that is shown once: it leaves the page's memory when the dialog closes. */
export function OneTimeLink({ title, value, children, onClose }: Props) {
  return (
    <Dialog
      opened={value !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
    >
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        {value ? <CopyField value={value} label={title} /> : null}
      </Stack>
    </Dialog>
  )
}
