import { ActionIcon, CopyButton, Group, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import { useWords } from '../text'

/** One line of text to take away: a command, an address, an id. */
export function CopyField({ value, label }: { value: string; label: string }) {
  const w = useWords()
  return (
    <Group gap={6} wrap="nowrap" className="copy-field">
      <code className="clip" style={{ flex: 1 }}>
        {value}
      </code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? w.copied : w.copy}>
            <ActionIcon onClick={copy} aria-label={`${w.copy}: ${label}`}>
              {copied ? <Check size={14} /> : <Copy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  )
}
