import { CopyIcon } from '../../copy/CopyIcon'
import type { CopySource } from '../../copy/useCopy'
import '../run.css'

interface Props {
  text: string
  label: string
  /** What is copied, if `text` hides a part of it. */
  source?: CopySource | undefined
}

/** A few lines to take away. */
export function CallText({ text, label, source = text }: Props) {
  return (
    <div className="run-call-box">
      <section className="run-call mono" aria-label={label} tabIndex={0}>
        {text}
      </section>
      <CopyIcon source={source} label={label} className="run-call-copy" />
    </div>
  )
}
