import { Drawer } from '@mantine/core'
import { DialogContext, useDialogKeys } from '../../app/keys'
import { useWords } from '../text'
import { AclPanel } from './AclPanel'
import { useText } from './text'
import type { AclObject } from './visibility'

interface Props {
  object: AclObject
  id: string
  name: string
  opened: boolean
  onClose: () => void
}

/** Who may see and run one record, beside the page that one is on. */
export function AclDrawer({ object, id, name, opened, onClose }: Props) {
  const t = useText()
  const w = useWords()
  const keys = useDialogKeys(opened)
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="md"
      title={t.title(name)}
      closeButtonProps={{ 'aria-label': w.close }}
    >
      <DialogContext value={keys}>
        {opened ? <AclPanel object={object} id={id} /> : null}
      </DialogContext>
    </Drawer>
  )
}
