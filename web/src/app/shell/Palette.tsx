import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import '@mantine/spotlight/styles.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Play, Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { useGo } from '../../ui/AppLink'
import { PAGES } from '../pages'
import { reaches } from '../permissions'
import { useProfile } from '../session'
import { useText } from '../text'
import { useAsked } from './openPalette'

const [store, palette] = createSpotlight()

type Found = Shape<'Found'>
/** Where each kind of record lives. */
const HOME: Record<string, (one: Found) => string> = {
  task: (one) => `/tasks/${one.id}`,
  workflow: (one) => `/workflows/${one.id}`,
  monitor: (one) => `/monitors/${one.id}`,
  host: (one) => `/hosts/${one.id}`,
  indicator: () => '/indicators',
  webhook: (one) => `/webhooks/${one.id}`,
  schedule: () => '/schedules',
  script: (one) => `/scripts/${one.id}`,
  member: () => '/people',
  job: (one) => `/jobs/${one.id}`,
}

function useFound(query: string): Found[] {
  const [settled] = useDebouncedValue(query.trim(), 150)
  const { data } = useQuery({
    queryKey: ['search', settled],
    queryFn: ({ signal }) =>
      ok(api.GET('/-/search', { params: { query: { q: settled } }, signal })),
    enabled: settled.length > 0,
    placeholderData: keepPreviousData,
  })
  return query.trim() && data ? data : []
}

/** Goes anywhere and runs anything: pages at once, everything else by the server's search. */
export function Palette() {
  const t = useText()
  const go = useGo()
  const { credential } = useProfile()
  const [query, setQuery] = useState('')
  const asked = useAsked()
  useEffect(() => {
    if (asked) palette.open()
  }, [asked])
  const found = useFound(query)
  const wanted = query.trim().toLowerCase()
  const pages = PAGES.filter(
    (page) =>
      (!page.level || reaches(credential, page.level)) &&
      t[page.word].toLowerCase().includes(wanted),
  )
  const runnable = found.filter((one) => one.may_run)
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      // While it fades its field would still take every key.
      onSpotlightClose={() => (document.activeElement as HTMLElement | null)?.blur()}
      clearQueryOnClose
      scrollable
      maxHeight={420}
    >
      <Spotlight.Search
        placeholder={t.searchLong}
        leftSection={<Search size={16} />}
        aria-label={t.searchLong}
      />
      <Spotlight.ActionsList>
        {runnable.length ? (
          <Spotlight.ActionsGroup label={t.run}>
            {runnable.map((one) => (
              <Spotlight.Action
                key={`run ${one.id}`}
                label={`${t.run}: ${one.name}`}
                description={one.detail}
                leftSection={<Play size={14} />}
                onClick={() => go(HOME[one.kind]!(one), { run: true })}
              />
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {pages.length ? (
          <Spotlight.ActionsGroup label={t.goTo}>
            {pages.map((page) => (
              <Spotlight.Action
                key={page.to}
                label={t[page.word]}
                leftSection={<page.icon size={14} />}
                onClick={() => go(page.to)}
              />
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {found.length ? (
          <Spotlight.ActionsGroup label={t.found}>
            {found.map((one) => (
              <Spotlight.Action
                key={`${one.kind} ${one.id}`}
                label={one.name}
                description={one.detail}
                rightSection={
                  <Text size="xs" c="dimmed">
                    {one.kind}
                  </Text>
                }
                onClick={() => go(HOME[one.kind]!(one))}
              />
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {pages.length + found.length === 0 ? <Spotlight.Empty>{t.nothing}</Spotlight.Empty> : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
