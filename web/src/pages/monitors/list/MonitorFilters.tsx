import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import {
  type MonitorFilter,
  monitorsQuery,
  tagsQuery,
} from '../../../api/queries/monitoring/monitor'
import { hostNamesQuery, MAX_CHOICES } from '../../../api/queries/names'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { sortNames } from '../../../lib/format'
import { monitorStateText } from '../../../lib/state'
import { AppLink } from '../../../ui/AppLink'
import { useMonitoringText } from '../../../ui/monitoring/text'
import { useWords } from '../../../ui/text'
import { useText } from '../text'

const monitorsRoute = getRouteApi('/$customer/monitors')

const STATES = ['failure', 'updates_stopped', 'unknown', 'normal', 'paused']

export function useMonitorFilter(): (change: MonitorFilter) => void {
  const navigate = monitorsRoute.useNavigate()
  return (change) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
}

export function MonitorFilters({ filter, total }: { filter: MonitorFilter; total: number | null }) {
  const t = useText()
  const w = useWords()
  const kinds = useMonitoringText().kinds
  const set = useMonitorFilter()
  const { data: hosts = [] } = useQuery(hostNamesQuery)
  const tags = useTags(filter)
  const mayCreate = useCan()('monitor.edit')
  return (
    <Group className="head mon-filters" gap={8}>
      <Find filter={filter} />
      <Select
        size="xs"
        className="mon-choice"
        w={150}
        clearable
        aria-label={w.state}
        placeholder={t.any}
        value={filter.state ?? null}
        onChange={(state) => set({ state: state ?? undefined })}
        data={[
          { value: 'problems', label: t.problems },
          ...STATES.map((state) => ({ value: state, label: monitorStateText({ state }) })),
        ]}
      />
      <Select
        size="xs"
        className="mon-choice"
        w={130}
        clearable
        aria-label={t.kind}
        placeholder={t.kind}
        value={filter.kind ?? null}
        onChange={(kind) => set({ kind: kind ?? undefined })}
        data={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
      />
      <Select
        size="xs"
        className="mon-choice"
        w={150}
        clearable
        searchable
        aria-label={w.host}
        placeholder={w.host}
        value={filter.host ?? null}
        onChange={(host) => set({ host: host ?? undefined })}
        limit={MAX_CHOICES}
        data={hosts.map((host) => ({ value: host.id, label: host.name }))}
      />
      {tags.length ? (
        <Select
          size="xs"
          className="mon-choice"
          w={130}
          clearable
          searchable
          aria-label={w.tags}
          placeholder={w.tags}
          value={filter.tag ?? null}
          onChange={(tag) => set({ tag: tag ?? undefined })}
          data={tags}
        />
      ) : null}
      <Text size="xs" c="dimmed" ml="auto" className="num" role="status">
        {total === null ? '' : t.count(total)}
      </Text>
      {mayCreate ? (
        <Button component={AppLink} to="/monitors/new" leftSection={<Plus size={14} />}>
          {t.new}
        </Button>
      ) : null}
    </Group>
  )
}

function Find({ filter }: { filter: MonitorFilter }) {
  const t = useText()
  const set = useMonitorFilter()
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(filter.q ?? '')
  useEffect(() => setTyped(filter.q ?? ''), [filter.q])
  const settle = useDebouncedCallback((q: string) => set({ q: q || undefined }), 200)
  useKeys({ '/': () => field.current?.focus() })
  return (
    <TextInput
      ref={field}
      size="xs"
      className="mon-find"
      leftSection={<Search size={14} />}
      placeholder={t.find}
      aria-label={t.find}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        settle(event.currentTarget.value)
      }}
    />
  )
}

/** The tags of the monitors that fit without a tag, where one page has them all; else all tags that
 * there are. And the one that is chosen. */
function useTags(filter: MonitorFilter): string[] {
  const { data } = useQuery(monitorsQuery({ ...filter, tag: undefined }))
  const isCut = !!data && (data.total ?? 0) > data.rows.length
  const { data: all = [] } = useQuery({ ...tagsQuery, enabled: isCut })
  const tags = new Set(data?.rows.flatMap((line) => line.tags))
  if (isCut) for (const { name } of all) tags.add(name)
  if (filter.tag) tags.add(filter.tag)
  return sortNames(tags)
}
