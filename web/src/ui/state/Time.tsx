import { useSyncExternalStore } from 'react'
import { ago, dateTime, span } from '../../lib/format'
import { usePrefs } from '../../lib/prefs'

// One clock for all times on the page.
let now = Date.now()
const listeners = new Set<() => void>()
let ticking: ReturnType<typeof setInterval> | undefined

function listen(listener: () => void): () => void {
  listeners.add(listener)
  ticking ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) {
      clearInterval(ticking)
      ticking = undefined
    }
  }
}

export function useNow(): number {
  return useSyncExternalStore(listen, () => now)
}

/** "3 min. ago", with the exact moment on hover. */
export function Ago({ at }: { at: string | null | undefined }) {
  usePrefs()
  const text = useSyncExternalStore(listen, () => ago(at))
  if (!at) return <>{text}</>
  // The browser's own hint: lists have hundreds of times, and a tooltip of ours costs as much as a row.
  return (
    <time dateTime={at} title={dateTime(at)}>
      {text}
    </time>
  )
}

/** How long something took, or takes until now. */
export function Duration({ from, to }: { from: string | null | undefined; to?: string | null }) {
  if (from && !to) return <Counting from={from} />
  return <span className="num">{from ? span(from, to) : '—'}</span>
}

function Counting({ from }: { from: string }) {
  return <span className="num">{useSyncExternalStore(listen, () => span(from))}</span>
}
