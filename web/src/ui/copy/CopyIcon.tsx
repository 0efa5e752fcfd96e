import { ActionIcon, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import { useWords } from '../text'
import { type CopySource, useCopy } from './useCopy'

interface Props {
  source: CopySource
  label: string
  className?: string
}

/** The button that copies the text next to it. */
export function CopyIcon({ source, label, className = '' }: Props) {
  const w = useWords()
  const { isCopied, copy } = useCopy()
  return (
    <Tooltip label={isCopied ? w.copied : w.copy}>
      <ActionIcon
        className={className}
        onClick={() => copy(source)}
        aria-label={`${w.copy}: ${label}`}
      >
        {isCopied ? <Check size={14} /> : <Copy size={14} />}
      </ActionIcon>
    </Tooltip>
  )
}
