import { Dialog } from '../../form/Dialog'
import type { LogStore } from '../data/logStore'
import { useLogText } from '../text'

interface Props {
  store: LogStore
  row: number
  onClose: () => void
}

/** A line that is too long for the window. */
export function FullLine({ store, row, onClose }: Props) {
  const t = useLogText()
  return (
    <Dialog opened onClose={onClose} size="90%" title={t.line(store.lineOf(row) ?? 0)}>
      <pre className="log-whole" tabIndex={0}>
        {store.plain(row)}
      </pre>
    </Dialog>
  )
}
