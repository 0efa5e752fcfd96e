import './log.css'
import { Button } from '@mantine/core'
import { ArrowDown } from 'lucide-react'
import {
  lazy,
  Suspense,
  startTransition,
  use,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { address } from '../../api/client'
import { useKeys } from '../../app/keys'
import { LogStore } from './data/logStore'
import { fetchLines, LogStream } from './data/logStream'
import { LogBar } from './LogBar'
import { useLogText } from './text'
import { LogWindow, type LogWindowHandle, type Range } from './window/LogWindow'

interface Props {
  jobId: string
  /** An earlier attempt; the newest when left out. */
  attempt?: number
  /** Changes with the job: after an end there may be another attempt. */
  revision: string
  isOver: boolean
  /** It has not begun: there is nothing to load yet. */
  isWaiting?: boolean
  /** Opens at the last lines, which contain the reason of a failure. */
  atEnd: boolean
  chosen: Range | null
  onChosen: (range: Range | null) => void
  filename: string
  children?: React.ReactNode
}

const WRAP = 'belvedere-log-wrap'
const TIMES = 'belvedere-log-times'

// Few lines are so long that the rest is requested.
const FullLine = lazy(() =>
  import('./window/FullLine').then((module) => ({ default: module.FullLine })),
)

// The first announcement is made seconds later.
const Announcer = lazy(() =>
  import('./Announcer').then((module) => ({ default: module.Announcer })),
)

/** A job's output: past and live, found through, pointed at. */
export function LogView(props: Props) {
  const { jobId, attempt, chosen, onChosen, isOver } = props
  const t = useLogText()
  const store = useLog(jobId, attempt, props.revision)
  const version = useSyncExternalStore(store.subscribe, store.look)
  const frame = useRef<LogWindowHandle>(null)
  const field = useRef<HTMLInputElement>(null)
  const [wrap, setWrap] = useSwitch(WRAP)
  const [isTimed, setTimed] = useSwitch(TIMES)
  const times = useTimes(isTimed, jobId, attempt, store)
  const [needle, setNeedle] = useState('')
  const [row, setRow] = useState<number | null>(null)
  const [isFollowing, setFollowing] = useState(!chosen && !isOver)
  const [fullLine, setFullLine] = useState<number | null>(null)
  const readUntil = useUnreadLines(store, isFollowing)

  const show = (row: number) => {
    setFollowing(false)
    frame.current?.show(row)
  }
  const onRow = (row: number | null) => {
    setRow(row)
    if (row !== null) show(row)
  }
  const toEnd = () => {
    setFollowing(!isOver || store.status !== 'ended')
    frame.current?.toEnd()
  }
  const start = useStart({
    store,
    version,
    chosen,
    atEnd: props.atEnd,
    show,
    toEnd: () => frame.current?.toEnd(),
  })
  const onLine = (line: number, extend: boolean) => {
    const range = chosen && extend ? extendRange(chosen, line) : { from: line, to: line }
    start.isThere(range)
    onChosen(range)
  }

  useKeys({
    f: () => field.current?.select(),
    'Shift+g': toEnd,
    w: () => setWrap(!wrap),
    t: () => setTimed(!isTimed),
    // The browser's own search sees only the lines that are drawn.
    'mod+f': () => field.current?.select(),
  })

  const isEmpty = store.rows === 0 && (store.status !== 'loading' || props.isWaiting)
  return (
    <section className="log-card" aria-label={t.log}>
      <LogBar
        store={store}
        isWaiting={props.isWaiting}
        jobId={jobId}
        attempt={attempt}
        needle={needle}
        onNeedle={setNeedle}
        here={() => frame.current?.first() ?? 0}
        row={row}
        onRow={onRow}
        field={field}
        wrap={wrap}
        onWrap={setWrap}
        isTimed={isTimed}
        onTimed={setTimed}
        isFollowing={isFollowing}
        onFollow={(on) => (on ? toEnd() : setFollowing(false))}
        rawUrl={address(`/job/${jobId}/log`, { attempt })}
        filename={props.filename}
      >
        {props.children}
      </LogBar>
      <div className="log-frame">
        <LogWindow
          ref={frame}
          store={store}
          wrap={wrap}
          times={times}
          isFollowing={isFollowing}
          onFollow={setFollowing}
          needle={needle}
          current={needle ? row : null}
          chosen={chosen}
          onLine={onLine}
          onShowAll={setFullLine}
        />
        {isEmpty ? (
          <div className="log-empty">{store.status === 'ended' ? t.noOutput : t.noOutputYet}</div>
        ) : null}
        {readUntil.fresh > 0 ? (
          <Button
            className="log-fresh"
            size="compact-sm"
            leftSection={<ArrowDown size={13} />}
            onClick={toEnd}
          >
            {t.newLines(readUntil.fresh)}
          </Button>
        ) : null}
      </div>
      <Suspense>
        <Announcer store={store} isFollowing={isFollowing} />
        {fullLine === null ? null : (
          <FullLine store={store} row={fullLine} onClose={() => setFullLine(null)} />
        )}
      </Suspense>
    </section>
  )
}

function extendRange(chosen: Range, line: number): Range {
  return { from: Math.min(chosen.from, line), to: Math.max(chosen.from, line) }
}

/** One store and one stream per attempt that is looked at. */
function useLog(jobId: string, attempt: number | undefined, revision: string): LogStore {
  const store = useMemo(() => new LogStore(fetchLines(jobId, attempt)), [jobId, attempt])
  const feed = useRef<LogStream | null>(null)
  useEffect(() => {
    const stream = new LogStream(jobId, attempt, store)
    feed.current = stream
    stream.start()
    return () => {
      stream.stop()
      store.close()
    }
  }, [jobId, attempt, store])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state may mean more output
  useEffect(() => feed.current?.again(), [revision])
  return store
}

interface Start {
  store: LogStore
  version: number
  chosen: Range | null
  atEnd: boolean
  show: (row: number) => void
  toEnd: () => void
}

// The router restores scroll positions after a new address is drawn, so this runs last.
const SETTLED_MS = 120

/** Scrolls to the lines of the address once they are loaded, or to the end of a failed job. */
function useStart({ store, version, chosen, atEnd, show, toEnd }: Start) {
  const leftLine = useRef('')
  const target = chosen ? nameOf(chosen) : atEnd ? 'end' : ''
  // biome-ignore lint/correctness/useExhaustiveDependencies: examined as lines arrive
  useEffect(() => {
    if (!target || leftLine.current === target) return
    const isThere = store.status === 'ended' || (chosen !== null && store.lines >= chosen.to)
    if (!isThere) return
    leftLine.current = target
    const go = () => (chosen ? show(store.rowOf(chosen.from)) : toEnd())
    go()
    setTimeout(go, SETTLED_MS)
  }, [store, version, target])
  return {
    /** The reader clicked these lines, so they are visible and nothing has to scroll. */
    isThere: (range: Range) => {
      leftLine.current = nameOf(range)
    },
  }
}

function nameOf({ from, to }: Range): string {
  return `${from}-${to}`
}

/** Lines that came since the reader left the end. */
function useUnreadLines(store: LogStore, isFollowing: boolean): { fresh: number } {
  const readUntil = useRef(0)
  if (isFollowing || store.status === 'loading' || store.status === 'ended')
    readUntil.current = store.rows
  return { fresh: readUntil.current ? Math.max(0, store.rows - readUntil.current) : 0 }
}

/** A choice of the reader is remembered. */
function useSwitch(name: string): [boolean, (on: boolean) => void] {
  const [isOn, setOn] = useState(() => localStorage.getItem(name) === 'yes')
  return [
    isOn,
    (on) => {
      localStorage.setItem(name, on ? 'yes' : 'no')
      // The lines stay as they are until the code that wraps them is loaded.
      startTransition(() => setOn(on))
    },
  ]
}

let coming: Promise<typeof import('./data/lineTimes')> | undefined

function useTimes(isOn: boolean, jobId: string, attempt: number | undefined, store: LogStore) {
  // The code for timestamps is loaded only when they are switched on.
  if (isOn) coming ??= import('./data/lineTimes')
  const TimesClass = isOn ? use(coming!).LineTimes : null
  return useMemo(
    () => TimesClass && new TimesClass(jobId, attempt, store),
    [TimesClass, jobId, attempt, store],
  )
}
