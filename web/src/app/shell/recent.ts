import { useEffect } from 'react'

/** A record that was opened before. */
export interface RecentPage {
  to: string
  name: string
}

const KEY = 'belvedere-recent'
const MAX_PAGES = 8
const RECORD =
  /^\/(?:tasks|workflows|jobs|monitors|hosts|webhooks|schedules|scripts)\/[0-9a-f]{24}(?=\/|$)/

type Stored = Record<string, RecentPage[]>

/** Pages of this person in this organization, the last one first. */
export function recentPages(owner: string): RecentPage[] {
  return read()[owner] ?? []
}

export function storeRecentPage(owner: string, page: RecentPage): void {
  const others = recentPages(owner).filter(({ to }) => to !== page.to)
  write({ [owner]: [page, ...others].slice(0, MAX_PAGES) })
}

/** Nothing stays in the browser after a person has signed out. */
export function clearRecentPages(): void {
  write({})
}

/** The page of the record itself, without its tabs; null: another page. */
export function recordPage(path: string): string | null {
  return RECORD.exec(path)?.[0] ?? null
}

/** Remembers each record that is opened, under the name that its page shows. */
export function useRecentPages(owner: string, path: string, name: string): void {
  useEffect(() => {
    const to = recordPage(path)
    if (to && name) storeRecentPage(owner, { to, name })
  }, [owner, path, name])
}

function read(): Stored {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}')
  } catch {
    return {}
  }
}

function write(pages: Stored): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(pages))
  } catch {
    // Without storage, the list is lost on reload.
  }
}
