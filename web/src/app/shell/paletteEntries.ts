import type { LucideIcon } from 'lucide-react'
import type { Shape } from '../../api/client'
import { catalogue } from '../../lib/i18n'

const useKinds = catalogue(
  {
    task: 'task',
    workflow: 'workflow',
    monitor: 'monitor',
    host: 'host',
    indicator: 'indicator',
    webhook: 'webhook',
    schedule: 'schedule',
    script: 'script',
    member: 'member',
    job: 'job',
  } as Record<string, string>,
  {
    task: 'tarea',
    workflow: 'flujo',
    monitor: 'monitor',
    host: 'equipo',
    indicator: 'indicador',
    webhook: 'webhook',
    schedule: 'horario',
    script: 'script',
    member: 'miembro',
    job: 'trabajo',
  },
)

export function kindText(kind: string): string {
  return useKinds.now()[kind] ?? kind
}

/** The page of a record that the search found; people have one list. */
export function pageOf({ kind, id }: Pick<Shape<'SearchResult'>, 'kind' | 'id'>): string {
  return kind === 'member' ? '/people' : `/${kind}s/${id}`
}

/** One line of the palette. */
export interface Entry {
  /** Stays the same while results change. */
  key: string
  group: string
  label: string
  detail?: string
  kind?: string
  icon?: LucideIcon
  onChoose: () => void
}

/** Entries that contain every word, in their order. */
export function matching(entries: Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return entries.filter(({ label, detail = '' }) => {
    const searched = `${label} ${detail}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
}

/** The selection: the same entry as long as it is listed, else the first. */
export function selectedKey(entries: Entry[], chosen: string | null): string | null {
  const isListed = entries.some((entry) => entry.key === chosen)
  return isListed ? chosen : (entries[0]?.key ?? null)
}

/** The entry before or after; from one end to the other. */
export function neighbour(entries: Entry[], key: string | null, by: 1 | -1): string | null {
  const at = entries.findIndex((entry) => entry.key === key)
  const next = entries[(at + by + entries.length) % entries.length]
  return next?.key ?? null
}
