import { Checkbox } from '@mantine/core'
import { useText } from '../text'

interface Props {
  hostname: string
  isChosen: boolean
  /** None: the reader cannot run commands, so there is nothing to choose. */
  onToggle?: (hostname: string) => void
}

/** Chooses a host for a command, in the list and in the grid. */
export function HostCheckbox({ hostname, isChosen, onToggle }: Props) {
  const t = useText()
  if (!onToggle) return null
  return (
    <Checkbox
      size="xs"
      className="host-pick"
      checked={isChosen}
      onChange={() => onToggle(hostname)}
      aria-label={t.select(hostname)}
    />
  )
}
