import { Button, Group, Paper, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { FilterX, Server } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { type HostLine, hostsQuery } from '../../../api/queries/monitoring/host'
import { useRefetchOnEvents } from '../../../api/refetchOnEvents'
import { useKeys } from '../../../app/keys'
import { useNavTitles } from '../../../app/pages'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { ScriptUserWarning } from '../../../ui/layout/ScriptUserWarning'
import { LoadMore } from '../../../ui/list/LoadMore'
import { useText } from '../text'
import { HostFilters } from './HostFilters'
import { HostGrid } from './HostGrid'
import { HostRow } from './HostRow'
import { isSortedHere, orderOf, sortHosts } from './hostsSearch'
import '../hosts.css'

/** Pages of 200 hosts, for a grid and for orders that the server does not have. */
const MAX_PAGES = 10

interface Pages {
  hasNextPage: boolean
  isFetching: boolean
  fetchNextPage: () => unknown
  data?: { pages: unknown[] }
}

const hostsRoute = getRouteApi('/$customer/hosts')

const ExecDialog = lazy(() =>
  import('../detail/ExecDialog').then((module) => ({ default: module.ExecDialog })),
)

export function HostsPage() {
  const t = useText()
  usePageTitle(useNavTitles().hosts)
  const go = useAppNavigate()
  const may = useCan()('host.edit')
  const search = hostsRoute.useSearch()
  const { sort, grid, heat, ...filter } = search
  const query = useInfiniteQuery(hostsQuery(filter, orderOf(sort)))
  useAllPages(query, !!grid || isSortedHere(sort))
  useRefetchOnEvents(['job', 'monitor'], ['host', 'board'])
  const isFiltered = Boolean(filter.q || filter.tag || filter.state)
  const [active, setActive] = useState(-1)
  const rows = useMemo(
    () => sortHosts(query.data?.pages.flatMap((page) => page.rows) ?? [], sort),
    [query.data, sort],
  )
  const mayExec = useCan()('host.exec')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback((name: string) => setChosen((now) => toggleIn(now, name)), [])
  const onToggle = mayExec ? toggle : undefined
  const [opened, { open, close }] = useDisclosure()
  const total = query.data?.pages[0]?.total ?? null
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, active + by))
    setActive(next)
    document.querySelectorAll('.host-row')[next]?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(rows[active] ? { Enter: () => go(`/hosts/${rows[active]!.id}`) } : {}),
    ...(rows[active] && mayExec ? { x: () => toggle(rows[active]!.hostname) } : {}),
    ...(may ? { c: () => go('/hosts/add') } : {}),
  })
  const isNone = query.data && rows.length === 0 && !query.isPlaceholderData
  if (isNone && !isFiltered) return <First />
  return (
    <>
      <ScriptUserWarning />
      <Paper withBorder>
        <HostFilters search={search} total={total} chosen={chosen.size} onCommand={open} />
        {chosen.size ? <Chosen chosen={chosen} rows={rows} onChange={setChosen} /> : null}
        <QueryResult query={query}>
          {() =>
            rows.length === 0 ? (
              <EmptyState icon={FilterX} title={t.none}>
                {t.noneBody}
              </EmptyState>
            ) : grid ? (
              <HostGrid hosts={rows} heat={heat} chosen={chosen} onToggle={onToggle} />
            ) : (
              rows.map((host, i) => (
                <HostRow
                  key={host.id}
                  host={host}
                  isActive={i === active}
                  isChosen={chosen.has(host.hostname)}
                  onToggle={onToggle}
                />
              ))
            )
          }
        </QueryResult>
        <LoadMore
          query={query}
          remaining={total === null ? null : total - rows.length}
          whenVisible
        />
      </Paper>
      <Suspense>{opened ? <ExecDialog onClose={close} hosts={[...chosen]} /> : null}</Suspense>
    </>
  )
}

/** Figures can be sorted, and a grid be complete, only when all pages are here. */
function useAllPages(query: Pages, isNeeded: boolean): void {
  const { hasNextPage, isFetching, fetchNextPage, data } = query
  const isMore = isNeeded && hasNextPage && !isFetching && (data?.pages.length ?? 0) < MAX_PAGES
  useEffect(() => {
    if (isMore) void fetchNextPage()
  }, [isMore, fetchNextPage])
}

function toggleIn(now: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(now)
  if (!next.delete(name)) next.add(name)
  return next
}

interface ChosenProps {
  chosen: ReadonlySet<string>
  rows: HostLine[]
  onChange: (chosen: ReadonlySet<string>) => void
}

function Chosen({ chosen, rows, onChange }: ChosenProps) {
  const t = useText()
  return (
    <Group className="head" gap={8}>
      <Text size="sm" fw={600}>
        {t.chosen(chosen.size)}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => onChange(new Set(rows.map((host) => host.hostname)))}
      >
        {t.chooseAll(rows.length)}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => onChange(new Set())}>
        {t.chooseNone}
      </Button>
    </Group>
  )
}

function First() {
  const t = useText()
  const may = useCan()('host.edit')
  return (
    <Paper withBorder>
      <EmptyState icon={Server} title={t.first}>
        <p>{t.firstBody}</p>
        {may ? (
          <Button component={AppLink} to="/hosts/add">
            {t.add}
          </Button>
        ) : null}
      </EmptyState>
    </Paper>
  )
}
