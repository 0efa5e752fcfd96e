import { useBlocker } from '@tanstack/react-router'
import { useWords } from '../text'
import { ConfirmDialog } from './ConfirmDialog'

interface Props {
  when: boolean
  /** Addresses that hold this are the same form: its tabs. */
  within?: string
}

/** Asks before a page with unsaved changes is left. */
export function UnsavedChanges({ when, within }: Props) {
  const w = useWords()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      when && current.pathname !== next.pathname && !(within && next.pathname.includes(within)),
    enableBeforeUnload: when,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      opened={status === 'blocked'}
      title={w.unsaved}
      action={w.leave}
      dismiss={w.stay}
      onClose={() => reset?.()}
      onConfirm={() => proceed?.()}
    >
      {w.unsavedBody}
    </ConfirmDialog>
  )
}
