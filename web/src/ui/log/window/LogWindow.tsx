import {
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { LineTimes } from '../data/lineTimes'
import type { LogStore } from '../data/logStore'
import { useLogText } from '../text'
import { LINE_PX, LogRow } from './LogRow'
import type { RowLayout } from './layout'
import { useLayout } from './rowLayout'
import { selectedText, textBetween } from './selection'

/** Browsers draw no element much higher than this; a longer log is scrolled in larger steps. */
const HIGHEST_PX = 15_000_000
const AROUND = 12
const CHARACTER_PX = 7.5
/** Characters of a day and a time, on either clock. */
const STAMP = 19

export interface Range {
  from: number
  to: number
}

export interface LogWindowHandle {
  show: (row: number) => void
  toEnd: () => void
  /** The first row on the screen. */
  first: () => number
  focus: () => void
}

interface Props {
  store: LogStore
  wrap: boolean
  times: LineTimes | null
  isFollowing: boolean
  onFollow: (isFollowing: boolean) => void
  needle: string
  current: number | null
  chosen: Range | null
  onLine: (line: number, extend: boolean) => void
  onShowAll: (row: number) => void
  ref: Ref<LogWindowHandle>
}

/**
 * A window onto the lines: each is LINE_PX high, so the position of a line is a multiplication, and
 * only visible lines are drawn. A virtualiser that measures would rebuild its table per append.
 */
export function LogWindow(props: Props) {
  const { store, wrap, isFollowing, onFollow, ref } = props
  const t = useLogText()
  const version = useSyncExternalStore(store.subscribe, store.look)
  const box = useRef<HTMLDivElement>(null)
  const size = useSize(box)
  const [top, setTop] = useState(0)
  const digits = String(store.lines).length + (props.times ? STAMP : 0)
  const columns = wrap ? Math.max(20, Math.floor((size.width - 40) / CHARACTER_PX) - digits - 1) : 0
  const layout = useLayout(store, columns)
  const total = layout.total
  const height = total * LINE_PX
  const drawn = Math.min(height, HIGHEST_PX)
  // One pixel of the scroll bar may represent several of the log.
  const scale = height > drawn ? (height - size.height) / (drawn - size.height) : 1
  const firstVisible = Math.floor((top * scale) / LINE_PX)
  const first = Math.max(0, firstVisible - AROUND)
  const last = Math.min(total, Math.ceil((top * scale + size.height) / LINE_PX) + AROUND)
  const pins = usePins(box, layout)

  useImperativeHandle(ref, () => ({
    show: (row) => {
      const y = layout.top(row) * LINE_PX - size.height / 3
      box.current?.scrollTo({ top: Math.max(0, y / scale) })
    },
    toEnd: () => box.current?.scrollTo({ top: box.current.scrollHeight }),
    first: () => (total ? layout.at(Math.min(total - 1, firstVisible)).row : 0),
    focus: () => box.current?.focus({ preventScroll: true }),
  }))

  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with every change
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [isFollowing, version, total, size])

  useEffect(() => {
    if (total) store.want(layout.at(first).row, layout.at(Math.max(first, last - 1)).row)
  }, [store, layout, first, last, total])

  const before = useRef({ at: 0, high: 0 })
  const onScroll = () => {
    const { scrollTop: at, scrollHeight: high } = box.current!
    // Up by hand; a log that became lower (another attempt, no more wrapping) is not that.
    if (isFollowing && at < before.current.at - 1 && high >= before.current.high) onFollow(false)
    before.current = { at, high }
    setTop(at)
  }
  useSlowWheel(box, scale)

  const onCopy = (event: React.ClipboardEvent) => {
    const ends = box.current && selectedText(box.current)
    if (!ends) return
    event.preventDefault()
    event.clipboardData.setData('text/plain', textBetween(store, ...ends))
  }

  const lines = visibleLines(first, last, pins, total)
  const shift = top - top * scale
  return (
    <div
      ref={box}
      className="log-box"
      role="log"
      aria-live="off"
      aria-label={t.output}
      // Scrollable areas must be reachable by keyboard.
      tabIndex={0}
      data-rows={store.rows}
      onScroll={onScroll}
      onWheel={(event) => event.deltaY < 0 && isFollowing && onFollow(false)}
      onCopy={onCopy}
      style={{ '--digits': `${digits}ch` } as React.CSSProperties}
    >
      <div className="log-size" style={{ height: drawn }}>
        {lines.map((line) => (
          <Line key={line} at={line} y={line * LINE_PX + shift} layout={layout} {...props} />
        ))}
      </div>
    </div>
  )
}

type LineProps = Omit<Props, 'ref'> & { at: number; y: number; layout: RowLayout }

function Line(props: LineProps) {
  const { at, y, layout, store, times, needle, current, chosen, onLine, onShowAll } = props
  const { row, from, to } = layout.at(at)
  const line = store.lineOf(row)
  return (
    <LogRow
      text={store.text(row)}
      row={row}
      from={from}
      to={to}
      y={y}
      line={line}
      stamp={times && line !== null ? times.at(line) : undefined}
      gap={store.gaps.length ? store.gapAt(row) : undefined}
      needle={needle}
      isChosen={!!chosen && line !== null && line >= chosen.from && line <= chosen.to}
      isCurrent={current === row}
      onLine={onLine}
      onShowAll={onShowAll}
    />
  )
}

/** The lines to draw, in order: those that are visible, and those with the ends of a selection. */
function visibleLines(first: number, last: number, pins: number[], total: number): number[] {
  const lines = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i)
  const out = pins.filter((line) => line < total && (line < first || line >= last))
  return out.length ? [...lines, ...out].sort((a, b) => a - b) : lines
}

/** A browser forgets a selection whose ends leave the page: they stay, wherever one scrolls. */
function usePins(box: React.RefObject<HTMLDivElement | null>, layout: RowLayout): number[] {
  const [pins, setPins] = useState<number[]>([])
  useEffect(() => {
    const look = () => {
      const ends = box.current && selectedText(box.current)
      const next = ends ? ends.map(({ row }) => layout.top(row)) : []
      setPins((old) => (String(old) === String(next) ? old : next))
    }
    document.addEventListener('selectionchange', look)
    return () => document.removeEventListener('selectionchange', look)
  }, [box, layout])
  return pins
}

function useSize(box: React.RefObject<HTMLDivElement | null>) {
  const [size, setSize] = useState({ width: 800, height: 600 })
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => setSize({ width: element.clientWidth, height: element.clientHeight })
    look()
    const watch = new ResizeObserver(look)
    watch.observe(element)
    return () => watch.disconnect()
  }, [box])
  return size
}

/** In a log that is higher than a browser can draw, a turn of the wheel still moves some lines. */
function useSlowWheel(box: React.RefObject<HTMLDivElement | null>, scale: number): void {
  const turn = useCallback(
    (event: WheelEvent) => {
      if (event.deltaX || event.ctrlKey) return
      event.preventDefault()
      const step = event.deltaMode === 1 ? event.deltaY * LINE_PX : event.deltaY
      box.current?.scrollBy({ top: step / scale })
    },
    [box, scale],
  )
  useEffect(() => {
    const element = box.current
    if (!element || scale === 1) return
    element.addEventListener('wheel', turn, { passive: false })
    return () => element.removeEventListener('wheel', turn)
  }, [box, turn, scale])
}
