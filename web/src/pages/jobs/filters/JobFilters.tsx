import {
  ActionIcon,
  Button,
  Group,
  Menu,
  NativeSelect,
  Popover,
  Stack,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Eraser, ListFilter, MoreVertical, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { type JobFilter, stateCountsQuery, stateNames } from '../../../api/queries/job'
import { useRefetchOnEvents } from '../../../api/refetchOnEvents'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { number } from '../../../lib/i18n'
import { shortIdIn } from '../../../lib/jobId'
import type { Look } from '../../../lib/state'
import { StateIcon } from '../../../ui/state/StateIcon'
import { useJobsText } from '../listText'
import { activeMoreFilters } from './activeFilters'
import { DeleteHistory } from './DeleteHistory'
import { SavedViews } from './SavedViews'

const MoreFilters = lazy(() =>
  import('./MoreFilters').then((module) => ({ default: module.MoreFilters })),
)
const COUNT_EVERY_MS = 5_000
const LOOKS: Record<string, Look> = {
  running: 'run',
  queued: 'queue',
  waiting: 'wait',
  failure: 'fail',
  lost: 'lost',
  success: 'ok',
  canceled: 'cancel',
  problems: 'fail',
}

interface Props {
  filter: JobFilter
  onFilter: (change: Partial<JobFilter>) => void
  total: number | null
  /** There are more than so many. */
  more: boolean
}

export function JobFilters({ filter, onFilter, total, more }: Props) {
  const t = useJobsText()
  const may = useCan()('job.purge')
  const [isPurging, setPurging] = useState(false)
  const names = Object.keys(filter)
  const counts = stateCountsQuery(filter)
  const { data } = useQuery(counts)
  useRefetchOnEvents(['job'], counts.queryKey, COUNT_EVERY_MS)
  const clear = () => onFilter(Object.fromEntries(names.map((name) => [name, undefined])))
  return (
    <div className="head jobs-filters">
      <Words filter={filter} onFilter={onFilter} />
      <Group gap={6} className="jobs-states" role="group" aria-label={t.stateFilter}>
        {stateNames(filter).map((word) => (
          <Button
            key={word}
            size="compact-xs"
            variant={filter.state === word ? 'filled' : 'default'}
            aria-pressed={filter.state === word}
            leftSection={filter.state === word ? null : <StateIcon look={LOOKS[word]!} size={12} />}
            onClick={() => onFilter({ state: filter.state === word ? undefined : word })}
          >
            {t.states[word]}
            {data?.counts[word] ? (
              <span className="jobs-count num">
                {number(data.counts[word])}
                {data.more ? '+' : ''}
              </span>
            ) : null}
          </Button>
        ))}
      </Group>
      <NativeSelect
        className="jobs-state-select"
        size="xs"
        aria-label={t.stateFilter}
        value={filter.state ?? ''}
        onChange={(event) => onFilter({ state: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: t.stateFilter },
          ...stateNames(filter).map((value) => ({ value, label: t.states[value]! })),
        ]}
      />
      <Popover position="bottom-start" width={280} trapFocus>
        <Popover.Target>
          <Button size="compact-xs" variant="default" leftSection={<ListFilter size={12} />}>
            {t.moreFilters}
            {activeMoreFilters(filter) ? ` (${activeMoreFilters(filter)})` : ''}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs">
            <Suspense>
              <MoreFilters filter={filter} onFilter={onFilter} />
            </Suspense>
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {names.length ? (
        <Tooltip label={t.clear}>
          <ActionIcon aria-label={t.clear} onClick={clear}>
            <Eraser size={14} />
          </ActionIcon>
        </Tooltip>
      ) : null}
      <Group gap={6} ml="auto" wrap="nowrap">
        {total === null ? null : (
          <Text size="xs" c="dimmed" className="num jobs-total">
            {t.total(total, more)}
          </Text>
        )}
        <SavedViews filter={filter} />
        {may ? (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon aria-label={t.history}>
                <MoreVertical size={15} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setPurging(true)}>{t.history}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ) : null}
      </Group>
      <DeleteHistory opened={isPurging} onClose={() => setPurging(false)} />
    </div>
  )
}

/** Typing narrows after a breath; `/` puts the cursor here. */
function Words({ filter, onFilter }: Omit<Props, 'total' | 'more'>) {
  const t = useJobsText()
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(filter.q ?? '')
  const send = useDebouncedCallback((q: string) => onFilter({ q: q || undefined }), 250)
  useEffect(() => setText(filter.q ?? ''), [filter.q])
  useKeys({ '/': () => field.current?.select() })
  return (
    <TextInput
      ref={field}
      size="xs"
      className="jobs-words"
      leftSection={<Search size={14} />}
      placeholder={t.find}
      aria-label={t.find}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        const words = event.currentTarget.value.trim()
        send(shortIdIn(words) ?? words)
      }}
    />
  )
}
