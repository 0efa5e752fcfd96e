import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus, Search } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { hostNamesQuery, MAX_CHOICES, tagNamesQuery } from '../../../api/queries/names'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { useWords } from '../../../ui/text'
import type { TasksSearch } from '../search'
import { useText } from '../text'

const tasksRoute = getRouteApi('/$customer/tasks')

interface Props {
  filter: TasksSearch
  total: number | null
  importButton: ReactNode
}

export function TaskFilters({ filter, total, importButton }: Props) {
  const t = useText()
  const w = useWords()
  const navigate = tasksRoute.useNavigate()
  const set = (change: TasksSearch) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
  const { data: hosts = [] } = useQuery(hostNamesQuery)
  const { data: tags = [] } = useQuery(tagNamesQuery('task'))
  const mayEdit = useCan()('task.edit')
  return (
    <Group className="head" gap={8}>
      <Find value={filter.q ?? ''} onChange={(q) => set({ q: q || undefined })} />
      <Choice
        label={t.type}
        value={filter.type}
        onChange={(type) => set({ type })}
        data={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
      />
      <Choice
        label={w.host}
        value={filter.host}
        onChange={(host) => set({ host })}
        data={hosts.map((host) => ({ value: host.id, label: host.name }))}
      />
      <Choice label={t.tag} value={filter.tag} onChange={(tag) => set({ tag })} data={tags} />
      <Choice
        label={t.last}
        value={filter.last}
        onChange={(last) => set({ last: last as TasksSearch['last'] })}
        data={Object.entries(t.lastResults).map(([value, label]) => ({ value, label }))}
      />
      <Group gap={8} justify="flex-end" ml="auto">
        <Text size="xs" c="dimmed" className="num">
          {total === null ? '' : t.count(total)}
        </Text>
        {importButton}
        {mayEdit ? (
          <Button component={AppLink} to="/tasks/new" leftSection={<Plus size={14} />}>
            {t.newTask}
          </Button>
        ) : null}
      </Group>
    </Group>
  )
}

interface ChoiceProps {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
  data: (string | { value: string; label: string })[]
}

function Choice({ label, value, onChange, data }: ChoiceProps) {
  return (
    <Select
      size="xs"
      className="tasks-filter"
      clearable
      searchable={data.length > 8}
      aria-label={label}
      placeholder={label}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
      limit={MAX_CHOICES}
      data={data}
    />
  )
}

function Find({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const t = useText()
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const report = useDebouncedCallback(onChange, 200)
  useEffect(() => setTyped(value), [value])
  useKeys({ '/': () => field.current?.focus() })
  return (
    <TextInput
      ref={field}
      size="xs"
      className="tasks-find"
      aria-label={t.find}
      placeholder={t.find}
      leftSection={<Search size={14} />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        report(event.currentTarget.value)
      }}
    />
  )
}
