import { useEffect, useState } from 'react'
import type { LogStore } from './data/logStore'
import { useLogText } from './text'

const ANNOUNCE_MS = 10_000

/** For screen readers: a summary now and then, instead of every line. */
export function Announcer({ store, isFollowing }: { store: LogStore; isFollowing: boolean }) {
  const t = useLogText()
  const [message, setMessage] = useState('')
  useEffect(() => {
    if (!isFollowing) return
    let before = store.rows
    const timer = setInterval(() => {
      const fresh = store.rows - before
      before = store.rows
      if (fresh > 0)
        setMessage(`${t.newLines(fresh)}. ${store.plain(store.rows - 1).slice(0, 200)}`)
    }, ANNOUNCE_MS)
    return () => clearInterval(timer)
  }, [store, isFollowing, t])
  return (
    <div className="log-announcer" role="status" aria-live="polite">
      {message}
    </div>
  )
}
