import { Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import '@mantine/spotlight/styles.css'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Play, Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { useAppNavigate } from '../../ui/AppLink'
import { PAGES } from '../pages'
import { hasLevel } from '../permissions'
import { useProfile } from '../session'
import { useText } from '../text'
import { usePaletteRequests } from './openPalette'

const [store, palette] = createSpotlight()

type SearchHit = Shape<'SearchResult'>
/** Where each kind of record lives. */
const HOME: Record<string, (hit: SearchHit) => string> = {
  task: (hit) => `/tasks/${hit.id}`,
  workflow: (hit) => `/workflows/${hit.id}`,
  monitor: (hit) => `/monitors/${hit.id}`,
  host: (hit) => `/hosts/${hit.id}`,
  indicator: () => '/indicators',
  webhook: (hit) => `/webhooks/${hit.id}`,
  schedule: () => '/schedules',
  script: (hit) => `/scripts/${hit.id}`,
  member: () => '/people',
  job: (hit) => `/jobs/${hit.id}`,
}

function useSearchHits(query: string): SearchHit[] {
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
  const go = useAppNavigate()
  const { credential } = useProfile()
  const [query, setQuery] = useState('')
  const requests = usePaletteRequests()
  useEffect(() => {
    if (requests) palette.open()
  }, [requests])
  const hits = useSearchHits(query)
  const text = query.trim().toLowerCase()
  const pages = PAGES.filter(
    (page) =>
      (!page.level || hasLevel(credential, page.level)) &&
      t[page.word].toLowerCase().includes(text),
  )
  const runnable = hits.filter((hit) => hit.may_run)
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
            {runnable.map((hit) => (
              <Spotlight.Action
                key={`run ${hit.id}`}
                label={`${t.run}: ${hit.name}`}
                description={hit.detail}
                leftSection={<Play size={14} />}
                onClick={() => go(HOME[hit.kind]!(hit), { run: true })}
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
        {hits.length ? (
          <Spotlight.ActionsGroup label={t.found}>
            {hits.map((hit) => (
              <Spotlight.Action
                key={`${hit.kind} ${hit.id}`}
                label={hit.name}
                description={hit.detail}
                rightSection={
                  <Text size="xs" c="dimmed">
                    {hit.kind}
                  </Text>
                }
                onClick={() => go(HOME[hit.kind]!(hit))}
              />
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {pages.length + hits.length === 0 ? <Spotlight.Empty>{t.nothing}</Spotlight.Empty> : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
