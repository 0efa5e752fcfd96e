import { Button, Group, SegmentedControl, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus, Search, Terminal } from 'lucide-react'
import { useRef } from 'react'
import { tagNamesQuery } from '../../../api/queries/names'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { useUsageText } from '../../../ui/hosts/usageText'
import { useMonitoringText } from '../../../ui/monitoring/text'
import { useWords } from '../../../ui/text'
import { useText } from '../text'
import { HEATS, type Heat, type HostsSearch, SORTS, type Sort, STATES } from './hostsSearch'

const hostsRoute = getRouteApi('/$customer/hosts')

interface Props {
  search: HostsSearch
  total: number | null
  /** How many hosts the command would run on; 0: it asks. */
  chosen: number
  onCommand: () => void
}

/** Filters, order, view and actions of the list of hosts. */
export function HostFilters({ search, total, chosen, onCommand }: Props) {
  const t = useText()
  const w = useWords()
  const may = useCan()
  const navigate = hostsRoute.useNavigate()
  const set = (change: HostsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
  const settle = useDebouncedCallback((q: string) => set({ q: q || undefined }), 200)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  const { data: tags = [] } = useQuery(tagNamesQuery('host'))
  const { hostStates } = useMonitoringText()
  const figures = useUsageText()
  return (
    <Group className="head" gap={8}>
      <TextInput
        ref={field}
        size="xs"
        w={180}
        leftSection={<Search size={14} />}
        placeholder={t.find}
        aria-label={t.find}
        defaultValue={search.q}
        onChange={(event) => settle(event.currentTarget.value)}
      />
      <Select
        size="xs"
        w={130}
        clearable
        aria-label={w.state}
        placeholder={w.state}
        data={STATES.map((value) => ({ value, label: hostStates[value] ?? t.problems }))}
        value={search.state ?? null}
        onChange={(state) => set({ state: state ?? undefined })}
      />
      {tags.length ? (
        <Select
          size="xs"
          w={120}
          clearable
          searchable
          aria-label={t.tag}
          placeholder={t.tag}
          data={tags}
          value={search.tag ?? null}
          onChange={(tag) => set({ tag: tag ?? undefined })}
        />
      ) : null}
      <Select
        size="xs"
        w={150}
        clearable
        aria-label={t.sortBy}
        placeholder={t.sortByState}
        data={SORTS.map((value) => ({ value, label: t.sorts[value] }))}
        value={search.sort ?? null}
        onChange={(sort) => set({ sort: (sort as Sort | null) ?? undefined })}
      />
      <SegmentedControl
        size="xs"
        aria-label={t.view}
        value={search.grid ? 'grid' : 'list'}
        onChange={(view) => set({ grid: view === 'grid' || undefined })}
        data={[
          { value: 'list', label: t.list },
          { value: 'grid', label: t.grid },
        ]}
      />
      {search.grid ? (
        <Select
          size="xs"
          w={130}
          clearable
          aria-label={t.colourBy}
          placeholder={t.colourByState}
          data={HEATS.map((value) => ({ value, label: figures[value] }))}
          value={search.heat ?? null}
          onChange={(heat) => set({ heat: (heat as Heat | null) ?? undefined })}
        />
      ) : null}
      <Text size="xs" c="dimmed" className="num" role="status">
        {total === null ? '' : t.count(total)}
      </Text>
      <Group gap={8} ml="auto">
        {may('host.exec') ? (
          <Button
            variant={chosen ? 'filled' : 'default'}
            leftSection={<Terminal size={14} />}
            onClick={onCommand}
          >
            {chosen ? t.commandOn(chosen) : t.command}
          </Button>
        ) : null}
        {may('host.edit') ? (
          <Button
            component={AppLink}
            to="/hosts/add"
            variant={chosen ? 'default' : 'filled'}
            leftSection={<Plus size={14} />}
          >
            {t.add}
          </Button>
        ) : null}
      </Group>
    </Group>
  )
}
