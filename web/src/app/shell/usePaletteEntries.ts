import { useComputedColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { Clock, MonitorPlay, Moon, Play, Plus, Sun } from 'lucide-react'
import { api, ok } from '../../api/client'
import { shortId, shortIdIn } from '../../lib/jobId'
import { setPrefs } from '../../lib/prefs'
import { useAppNavigate } from '../../ui/AppLink'
import { CREATE, PAGES, useNavTitles } from '../pages'
import { hasLevel, isAllowed } from '../permissions'
import { useProfile } from '../session'
import { useText } from '../text'
import { type Entry, kindText, matching, pageOf } from './paletteEntries'
import { recentPages } from './recent'

const PAUSE_MS = 150
const MAX_RECENT = 5

/** The lines of the palette. Those of the console itself come first and stay where they are when
 * the server's results arrive below them. */
export function usePaletteEntries(query: string): { entries: Entry[]; isLoading: boolean } {
  const own = useOwnEntries()
  const { hits, isLoading } = useHits(query.trim())
  const words = query.trim()
  const local = words
    ? matching([...own.pages, ...own.actions, ...own.recent], words)
    : [...own.recent.slice(0, MAX_RECENT), ...own.pages, ...own.actions]
  const listed = new Set(local.map((entry) => entry.key))
  const remote = hits.filter((entry) => !listed.has(entry.key))
  return { entries: [...local, ...remote], isLoading }
}

function useOwnEntries() {
  const t = useText()
  const go = useAppNavigate()
  const { credential, id, current_customer } = useProfile()
  const navTitles = useNavTitles()
  const isDark = useComputedColorScheme('light') === 'dark'
  const path = useLocation({ select: (location) => location.pathname })
  const pages = PAGES.filter((page) => !page.level || hasLevel(credential, page.level))
  const created = CREATE.filter(([, , action]) => isAllowed(credential, action))
  return {
    recent: recentPages(`${id} ${current_customer.id}`)
      .filter(({ to }) => !path.includes(to))
      .map(({ to, name }): Entry => {
        const job = to.startsWith('/jobs/') ? shortId(to) : undefined
        const icon = Clock
        return { key: to, group: t.recent, label: name, detail: job, icon, onChoose: () => go(to) }
      }),
    pages: pages.map((page): Entry => {
      const icon = page.icon
      const label = navTitles[page.name]
      return { key: page.to, group: t.goTo, label, icon, onChoose: () => go(page.to) }
    }),
    actions: [
      ...created.map(([word, to]): Entry => {
        const label = `${t.create}: ${t[word]}`
        const icon = Plus
        return { key: to, group: t.actions, label, icon, onChoose: () => go(to) }
      }),
      {
        key: 'scheme',
        group: t.actions,
        label: isDark ? t.toLight : t.toDark,
        icon: isDark ? Sun : Moon,
        onChoose: () => setPrefs({ scheme: isDark ? 'light' : 'dark' }),
      },
      {
        key: '/wall',
        group: t.actions,
        label: t.openWall,
        icon: MonitorPlay,
        onChoose: () => go('/wall'),
      },
    ],
  }
}

function useHits(query: string): { hits: Entry[]; isLoading: boolean } {
  const t = useText()
  const go = useAppNavigate()
  const [settled] = useDebouncedValue(query, PAUSE_MS)
  const { data, isFetching, isPlaceholderData } = useQuery({
    queryKey: ['search', settled],
    queryFn: ({ signal }) =>
      ok(api.GET('/-/search', { params: { query: { q: settled } }, signal })),
    enabled: settled.length > 0,
    placeholderData: keepPreviousData,
  })
  if (!query || !data) return { hits: [], isLoading: query.length > 0 }
  const runs = data
    .filter((hit) => hit.may_run)
    .map((hit): Entry => {
      const onChoose = () => go(pageOf(hit), { run: true })
      const label = `${t.run}: ${hit.name}`
      const icon = Play
      return { key: `run ${hit.id}`, group: t.run, label, detail: hit.detail, icon, onChoose }
    })
  const records = data.map((hit): Entry => {
    const to = pageOf(hit)
    const detail = hit.kind === 'job' ? shortId(hit.id) : hit.detail
    const key = to.includes(hit.id) ? to : `${hit.kind} ${hit.id}`
    return {
      key,
      group: t.results,
      label: hit.name,
      detail,
      kind: kindText(hit.kind),
      onChoose: () => go(to),
    }
  })
  const hits = [...runs, ...records]
  // Results of the text before: only those that fit this one, too.
  const isOld = isPlaceholderData || settled !== query
  const isLoading = isFetching || settled !== query
  return { hits: isOld && !shortIdIn(query) ? matching(hits, query) : hits, isLoading }
}
