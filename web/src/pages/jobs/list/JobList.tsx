import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp } from 'lucide-react'
import {
  type CSSProperties,
  lazy,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Job, JobFilter } from '../../../api/queries/job'
import { useKeys } from '../../../app/keys'
import { usePrefs } from '../../../lib/prefs'
import { useAppNavigate, useLinkProps } from '../../../ui/AppLink'
import { useJobsText } from '../listText'
import { JobRow } from './JobRow'
import { useArgumentTexts } from './useArgumentTexts'
import { useLiveRows } from './useLiveRows'
import type { ScrollTop } from './useScrollTop'
import type { Selection } from './useSelection'

const SameJobDialog = lazy(() =>
  import('../dialogs/SameJobDialog').then((module) => ({ default: module.SameJobDialog })),
)
const HEIGHTS = { compact: 32, normal: 40, comfortable: 48 }
const CARD_PX = 80
const AHEAD = 60

interface Props {
  rows: Job[]
  total: number
  filter: JobFilter
  selection: Selection
  top: ScrollTop
  hasMore: boolean
  onMore: () => void
}

/** Ten thousand rows and more: only the visible ones are in the page. */
export function JobList({ rows, total, filter, selection, top, hasMore, onMore }: Props) {
  const t = useJobsText()
  const go = useAppNavigate()
  const linkProps = useLinkProps()
  const isNarrow = useMediaQuery('(max-width: 900px)', false, { getInitialValueInEffect: false })
  const { density } = usePrefs()
  const height = isNarrow ? CARD_PX : HEIGHTS[density]
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState<string | null>(top.start.row)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (index) => rows[index]!.id,
    overscan: 10,
    initialOffset: top.start.top,
    useFlushSync: false,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows have another height now
  useEffect(() => virtual.measure(), [height])
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = top.start.top
  }, [top])
  const live = useLiveRows(filter, rows[0]!.id, box)
  const [sameAs, setSameAs] = useState<Job | null>(null)
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  const values = useArgumentTexts(items.map((item) => rows[item.index]!))
  useEffect(() => {
    if (hasMore && last > rows.length - AHEAD) onMore()
  }, [hasMore, last, rows.length, onMore])

  const move = (by: number) => {
    const at = rows.findIndex((row) => row.id === active)
    const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))]
    if (!next) return
    setActive(next.id)
    top.keep({ row: next.id })
    virtual.scrollToIndex(rows.indexOf(next), { align: 'auto' })
    focusRow(next.id)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => active && selection.toggle(active),
    'Shift+x': () => active && selection.toggle(active, true),
    Enter: (event) => {
      // A focused button or link handles the key itself.
      const target = event.target as HTMLElement
      if (target.closest('a, button')) target.closest<HTMLElement>('a, button')!.click()
      else if (active) go(`/jobs/${active}`)
    },
    '.': () => active && rowOf(active)?.querySelector<HTMLElement>('[data-act="menu"]')?.click(),
  })
  return (
    <div role="table" aria-label={t.list} aria-rowcount={total + 1} className="jobs-grid">
      <Columns />
      {live.fresh ? (
        <Button
          className="jobs-fresh"
          size="compact-sm"
          leftSection={<ArrowUp size={13} />}
          onClick={live.show}
        >
          {t.fresh(live.fresh)}
        </Button>
      ) : null}
      <div
        ref={box}
        className="jobs-box"
        role="rowgroup"
        tabIndex={-1}
        onScroll={(event) => {
          top.keep({ top: event.currentTarget.scrollTop })
          live.prependNew()
        }}
      >
        <div
          className="jobs-all"
          style={{ height: virtual.getTotalSize(), '--jobs-row': `${height}px` } as CSSProperties}
        >
          {items.map((item) => (
            <JobRow
              key={item.key}
              job={rows[item.index]!}
              index={item.index}
              y={item.start}
              isNarrow={isNarrow}
              isActive={rows[item.index]!.id === active}
              isChosen={selection.chosen.has(rows[item.index]!.id)}
              linkProps={linkProps}
              values={values.get(rows[item.index]!.id)}
              onToggle={selection.toggle}
              onActive={setActive}
              onSame={setSameAs}
            />
          ))}
        </div>
      </div>
      {sameAs ? (
        <Suspense>
          <SameJobDialog job={sameAs} onClose={() => setSameAs(null)} />
        </Suspense>
      ) : null}
    </div>
  )
}

function rowOf(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-job="${id}"]`)
}

let later = 0

/** The focus goes with the active row: at once, or when it is drawn. One that came late would make
 * an earlier row the active one again, under the next key, and close a menu that is open. */
function focusRow(id: string): void {
  cancelAnimationFrame(later)
  if (hasFocused(id)) return
  later = requestAnimationFrame(() => {
    later = requestAnimationFrame(() => hasFocused(id))
  })
}

function hasFocused(id: string): boolean {
  const link = rowOf(id)?.querySelector<HTMLElement>('a')
  link?.focus({ preventScroll: true })
  return !!link
}

function Columns() {
  const { columns } = useJobsText()
  return (
    <div role="row" tabIndex={-1} aria-rowindex={1} className="jobs-row jobs-columns">
      <span />
      {Object.entries(columns).map(([name, word]) => (
        <span key={name} role="columnheader" tabIndex={-1} className={`jobs-${name}`}>
          {word}
        </span>
      ))}
      <span />
    </div>
  )
}
