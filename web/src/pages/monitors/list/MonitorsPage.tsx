import { Paper } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import { type MonitorFilter, monitorsQuery } from '../../../api/queries/monitoring/monitor'
import { useKeys } from '../../../app/keys'
import { useNavTitles } from '../../../app/pages'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { useAppNavigate } from '../../../ui/AppLink'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { useText } from '../text'
import { EmptyMonitors, NoMonitorMatches } from './EmptyMonitors'
import { MonitorBulkActions } from './MonitorBulkActions'
import { MonitorFilters } from './MonitorFilters'
import { MonitorListRow } from './MonitorListRow'
import { useMonitorRows } from './visibleRows'
import '../monitors.css'

const monitorsRoute = getRouteApi('/$customer/monitors')

export function MonitorsPage() {
  usePageTitle(useNavTitles().monitors)
  const filter = monitorsRoute.useSearch()
  const query = useQuery(monitorsQuery(filter))
  const isFiltered = Object.values(filter).some(Boolean)
  const isEmpty = query.data?.rows.length === 0
  if (isEmpty && !isFiltered) return <EmptyMonitors />
  return (
    <Paper withBorder className="fill">
      <MonitorFilters filter={filter} total={query.data?.total ?? null} />
      <QueryResult query={query} lines={12}>
        {({ total }) =>
          isEmpty ? (
            <NoMonitorMatches filter={filter} />
          ) : (
            <List filter={filter} total={total ?? 0} key={JSON.stringify(filter)} />
          )
        }
      </QueryResult>
    </Paper>
  )
}

function List({ filter, total }: { filter: MonitorFilter; total: number }) {
  const t = useText()
  const may = useCan()('monitor.edit')
  const box = useRef<HTMLDivElement>(null)
  const { list, visible, rowAt } = useMonitorRows(filter, box, total)
  const [active, setActive] = useState(-1)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  // The same function for every row, or all of them would be rendered again while scrolling.
  const toggle = useCallback((id: string) => setChosen((now) => toggleIn(now, id)), [])
  useRowKeys({ active, setActive, total, rowAt, toggle, scrollTo: list.scrollToIndex })
  return (
    <>
      {may && chosen.size ? (
        <MonitorBulkActions ids={[...chosen]} onDone={() => setChosen(new Set())} />
      ) : null}
      <div role="table" aria-rowcount={total + 1} className="mon-table" data-pick={may}>
        <div role="rowgroup">
          <div role="row" tabIndex={-1} className="mon-row mon-head" aria-rowindex={1}>
            <span role="columnheader" tabIndex={-1} className="mon-monitor">
              {t.columns.monitor}
            </span>
            {(['checks', 'trend', 'value', 'since', 'day', 'month'] as const).map((name) => (
              <span role="columnheader" tabIndex={-1} key={name} className={`mon-${name}`}>
                {t.columns[name]}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="mon-scroll" ref={box} tabIndex={-1}>
          <div role="presentation" style={{ height: list.getTotalSize(), position: 'relative' }}>
            {visible.map(({ index, start, key }) => (
              <MonitorListRow
                key={key}
                index={index}
                top={start}
                line={rowAt(index)}
                isActive={index === active}
                isChosen={chosen.has(rowAt(index)?.id ?? '')}
                onToggle={may ? toggle : undefined}
              />
            ))}
          </div>
        </div>
      </div>
    </>
  )
}

function toggleIn(now: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(now)
  if (!next.delete(id)) next.add(id)
  return next
}

interface Moves {
  active: number
  setActive: (index: number) => void
  total: number
  rowAt: (index: number) => { id: string } | undefined
  toggle: (id: string) => void
  scrollTo: (index: number) => void
}

function useRowKeys({ active, setActive, total, rowAt, toggle, scrollTo }: Moves): void {
  const go = useAppNavigate()
  const may = useCan()('monitor.edit')
  const move = (by: number) => {
    const next = Math.max(0, Math.min(total - 1, active + by))
    setActive(next)
    scrollTo(next)
  }
  const withRow = (action: (id: string) => void) => () => {
    const row = rowAt(active)
    if (row) action(row.id)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(active >= 0
      ? {
          Enter: withRow((id) => go(`/monitors/${id}`)),
          e: withRow((id) => may && go(`/monitors/${id}/settings`)),
          x: withRow((id) => may && toggle(id)),
        }
      : {}),
    ...(may ? { c: () => go('/monitors/new') } : {}),
  })
}
