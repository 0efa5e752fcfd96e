import { Group } from '@mantine/core'
import { CopyIcon } from '../copy/CopyIcon'
import type { CopySource } from '../copy/useCopy'

interface Props {
  value: string
  label: string
  /** What is copied, if `value` hides a part of it. */
  source?: CopySource | undefined
  /** Long text continues on the next line instead of being scrolled. */
  wrap?: boolean
}

/** One line of text to take away: a command, an address, an id. */
export function CopyField({ value, label, source = value, wrap = false }: Props) {
  return (
    <Group gap={6} wrap="nowrap" className="copy-field">
      {/* In the order of the focus: it is scrolled with the arrow keys. */}
      <code className="copy-text" data-wrap={wrap || undefined} tabIndex={0}>
        {value}
      </code>
      <CopyIcon source={source} label={label} />
    </Group>
  )
}
