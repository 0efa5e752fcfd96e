import './job.css'
import { useText } from './text'

interface Props {
  texts: string[]
  /** There are others that are not listed. */
  more?: boolean
}

/** The arguments of a job as small labels, in their order. */
export function ArgumentChips({ texts, more }: Props) {
  const t = useText.now()
  return (
    <span className="chips">
      {texts.map((text, n) => (
        <span key={n} className="chip" title={text}>
          {text === '' ? '""' : text}
        </span>
      ))}
      {more ? (
        <span className="chip" title={t.moreArguments}>
          …
        </span>
      ) : null}
    </span>
  )
}
