import { useSyncExternalStore } from 'react'

/** Choices of the reader in this browser. Nothing here is secret. */
export interface Prefs {
  scheme: 'light' | 'dark' | 'auto'
  density: 'compact' | 'normal' | 'comfortable'
  language: 'en' | 'es'
  /** An IANA zone, or '' for the browser's own. */
  zone: string
  clock: 'auto' | '12' | '24'
  /** Single-key shortcuts (WCAG 2.1.4 asks for a switch). */
  keys: boolean
  motion: boolean
}

const KEY = 'belvedere-prefs'
const SCHEME = 'belvedere-scheme'
const FIRST: Prefs = {
  scheme: 'auto',
  density: 'normal',
  language: globalThis.navigator?.language?.startsWith('es') ? 'es' : 'en',
  zone: '',
  clock: 'auto',
  keys: true,
  motion: true,
}

const listeners = new Set<() => void>()
let current = read()

function read(): Prefs {
  try {
    return { ...FIRST, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') }
  } catch {
    return FIRST
  }
}

export function prefs(): Prefs {
  return current
}

export function setPrefs(change: Partial<Prefs>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(current))
    // theme.js reads this one before the page is painted.
    localStorage.setItem(SCHEME, current.scheme)
  } catch {
    // Works without storage; preferences are lost on reload.
  }
  for (const listener of listeners) listener()
}

export function usePrefs(): Prefs {
  return useSyncExternalStore(listen, prefs)
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
