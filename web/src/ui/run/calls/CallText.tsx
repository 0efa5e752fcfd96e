import { ActionIcon, CopyButton, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import { useWords } from '../../text'
import '../run.css'

/** A few lines to take away. */
export function CallText({ text, label }: { text: string; label: string }) {
  const w = useWords()
  return (
    <div className="run-call-box">
      <section className="run-call mono" aria-label={label} tabIndex={0}>
        {text}
      </section>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? w.copied : w.copy}>
            <ActionIcon className="run-call-copy" onClick={copy} aria-label={`${w.copy}: ${label}`}>
              {copied ? <Check size={14} /> : <Copy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </div>
  )
}
