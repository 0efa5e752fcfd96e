import type { LucideIcon } from 'lucide-react'

/** One line of the palette. */
export interface Entry {
  /** Stays the same while results come and go. */
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

/** What is selected: the same entry as long as it is listed, else the first. */
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
