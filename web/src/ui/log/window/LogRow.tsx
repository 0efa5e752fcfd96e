import { memo } from 'react'
import { bytes } from '../../../lib/format'
import type { Gap } from '../data/logBlocks'
import { markHits, plainText, type Span, sliceSpans, spans } from '../lines/ansi'
import { useLogText } from '../text'
import { MAX_DRAWN } from './layout'

// Rows are rendered many times a second: each reads its texts once, without a subscription.
const words = useLogText.now

export const LINE_PX = 20

interface Props {
  /** Null: the tab let it go, and it is on its way back. */
  text: string | null
  row: number
  from: number
  to: number
  y: number
  line: number | null
  /** When it was written. */
  stamp?: string | undefined
  gap?: Gap
  /** The search text. */
  needle: string
  isChosen: boolean
  isCurrent: boolean
  onLine: (line: number, extend: boolean) => void
  onShowAll: (row: number) => void
}

/** One line of the screen. Everything that a script wrote is text here, never markup. */
export const LogRow = memo(function LogRow(props: Props) {
  const { row, from, y, line, gap, isChosen, isCurrent } = props
  return (
    <div
      className="log-row"
      data-row={row}
      data-from={from}
      data-chosen={isChosen || undefined}
      data-current={isCurrent || undefined}
      data-gap={gap ? true : undefined}
      style={{ transform: `translateY(${y}px)` }}
    >
      {line !== null && from === 0 ? (
        <LineNumber line={line} stamp={props.stamp} onLine={props.onLine} />
      ) : (
        <span className="log-no" />
      )}
      {gap ? <GapText gap={gap} /> : <LineText {...props} />}
    </div>
  )
})

function LineNumber({ line, stamp, onLine }: Pick<Props, 'stamp' | 'onLine'> & { line: number }) {
  return (
    // biome-ignore lint/a11y/useAnchorContent: the number is drawn by CSS, so that it is not copied
    <a
      className="log-no"
      data-n={line}
      data-t={stamp}
      aria-label={words().line(line)}
      href={`${location.pathname}${location.search}#L${line}`}
      tabIndex={-1}
      draggable={false}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey) return
        event.preventDefault()
        onLine(line, event.shiftKey)
      }}
    />
  )
}

function GapText({ gap }: { gap: Gap }) {
  return <span className="log-text">{words().gap(bytes(gap.to - gap.from))}</span>
}

function LineText({ text, row, from, to, needle, onShowAll }: Props) {
  if (text === null) return <span className="log-text log-gone">…</span>
  const isLong = text.length > MAX_DRAWN && plainText(text).length > MAX_DRAWN
  // Far more than is drawn is not even taken apart; codes make a line longer than it looks.
  const all = spans(isLong ? text.slice(0, MAX_DRAWN * 2) : text)
  const visible = sliceSpans(needle ? markHits(all, needle) : all, from, Math.min(to, MAX_DRAWN))
  const isEnd = isLong && to >= MAX_DRAWN
  return (
    <>
      <span className="log-text">
        {visible.map((span, i) => (
          <Look key={i} span={span} />
        ))}
      </span>
      {isEnd ? (
        <button type="button" className="log-more" onClick={() => onShowAll(row)}>
          {words().showAll(plainText(text).length)}
        </button>
      ) : null}
    </>
  )
}

function Look({ span }: { span: Span }) {
  if (!span.look && !span.fg && !span.bg) return <>{span.text}</>
  // Pulled towards the text's own colour, so that any colour can be read on any ground.
  const style = {
    color: span.fg && `color-mix(in srgb, rgb(${span.fg}) 65%, var(--mantine-color-text))`,
    background: span.bg && `color-mix(in srgb, rgb(${span.bg}) 30%, transparent)`,
  }
  return (
    <span className={span.look || undefined} style={span.fg || span.bg ? style : undefined}>
      {span.text}
    </span>
  )
}
