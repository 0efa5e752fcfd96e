import { Modal, type ModalProps } from '@mantine/core'
import { DialogContext, useDialogKeys } from '../../app/keys'
import { useWords } from '../text'

/** A dialog over the page: the keys of the page do nothing while it is open. */
export function Dialog({ children, ...props }: ModalProps) {
  const w = useWords()
  const id = useDialogKeys(props.opened)
  return (
    <Modal closeButtonProps={{ 'aria-label': w.close }} {...props}>
      <DialogContext value={id}>{children}</DialogContext>
    </Modal>
  )
}
