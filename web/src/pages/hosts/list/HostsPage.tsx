import { Button, Group, Paper, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { FilterX, Plus, Search, Server, Terminal } from 'lucide-react'
import { lazy, Suspense, useMemo, useRef, useState } from 'react'
import { type HostFilter, hostNamesQuery, hostsQuery } from '../../../api/queries/monitoring/host'
import { useRefetchOnEvents } from '../../../api/refetchOnEvents'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { useText as useAppText } from '../../../app/text'
import { usePageTitle } from '../../../app/title'
import { AppLink, useAppNavigate } from '../../../ui/AppLink'
import { EmptyState } from '../../../ui/layout/EmptyState'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { ScriptUserWarning } from '../../../ui/layout/ScriptUserWarning'
import { LoadMore } from '../../../ui/list/LoadMore'
import { useText } from '../text'
import { HostRow } from './HostRow'
import '../hosts.css'

const hostsRoute = getRouteApi('/$customer/hosts')

const ExecDialog = lazy(() =>
  import('../detail/ExecDialog').then((module) => ({ default: module.ExecDialog })),
)

export function HostsPage() {
  const t = useText()
  usePageTitle(useAppText().hosts)
  const go = useAppNavigate()
  const may = useCan()('host.edit')
  const filter = hostsRoute.useSearch()
  const query = useInfiniteQuery(hostsQuery(filter))
  useRefetchOnEvents(['job', 'monitor'], ['host', 'board'])
  const isFiltered = Boolean(filter.q || filter.tag)
  const [active, setActive] = useState(-1)
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data])
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
    ...(may ? { c: () => go('/hosts/add') } : {}),
  })
  const isNone = query.data && rows.length === 0 && !query.isPlaceholderData
  if (isNone && !isFiltered) return <First />
  return (
    <>
      <ScriptUserWarning />
      <Paper withBorder>
        <Bar filter={filter} total={total} />
        <QueryResult query={query}>
          {() =>
            rows.length === 0 ? (
              <EmptyState icon={FilterX} title={t.none}>
                {t.noneBody}
              </EmptyState>
            ) : (
              rows.map((host, i) => <HostRow key={host.id} host={host} isActive={i === active} />)
            )
          }
        </QueryResult>
        <LoadMore
          query={query}
          remaining={total === null ? null : total - rows.length}
          whenVisible
        />
      </Paper>
    </>
  )
}

function Bar({ filter, total }: { filter: HostFilter; total: number | null }) {
  const t = useText()
  const may = useCan()
  const navigate = hostsRoute.useNavigate()
  const set = (change: HostFilter) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true })
  const settle = useDebouncedCallback((q: string) => set({ q: q || undefined }), 200)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  const { data: hosts = [] } = useQuery(hostNamesQuery)
  const tags = [...new Set(hosts.flatMap((host) => host.tags))].toSorted()
  const [opened, { open, close }] = useDisclosure()
  return (
    <Group className="head" gap={8}>
      <TextInput
        ref={field}
        size="xs"
        w={220}
        leftSection={<Search size={14} />}
        placeholder={t.find}
        aria-label={t.find}
        defaultValue={filter.q}
        onChange={(event) => settle(event.currentTarget.value)}
      />
      {tags.length ? (
        <Select
          size="xs"
          w={140}
          clearable
          searchable
          aria-label={t.tag}
          placeholder={t.tag}
          data={tags}
          value={filter.tag ?? null}
          onChange={(tag) => set({ tag: tag ?? undefined })}
        />
      ) : null}
      <Text size="xs" c="dimmed" className="num" role="status">
        {total === null ? '' : t.count(total)}
      </Text>
      <Group gap={8} ml="auto">
        {may('host.exec') ? (
          <Button variant="default" leftSection={<Terminal size={14} />} onClick={open}>
            {t.command}
          </Button>
        ) : null}
        {may('host.edit') ? (
          <Button component={AppLink} to="/hosts/add" leftSection={<Plus size={14} />}>
            {t.add}
          </Button>
        ) : null}
      </Group>
      <Suspense>{opened ? <ExecDialog onClose={close} /> : null}</Suspense>
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
