import { useEffect } from 'react'

// A screen that runs for months starts over now and then, so that a new release is seen.
const RENEW_MS = 6 * 3_600_000
const LOOK_MS = 60_000

/** Keeps the screen on, and the page fresh. */
export function useKeepAwake(): void {
  useEffect(() => {
    let lock: WakeLockSentinel | null = null
    const hold = async () => {
      if (document.visibilityState !== 'visible') return
      // Not everywhere, and not without a person's leave: a screen that sleeps is no fault.
      lock = (await navigator.wakeLock?.request('screen').catch(() => null)) ?? null
    }
    void hold()
    document.addEventListener('visibilitychange', hold)
    return () => {
      document.removeEventListener('visibilitychange', hold)
      void lock?.release()
    }
  }, [])
  useEffect(() => {
    const loadedAt = Date.now()
    const timer = setInterval(async () => {
      if (Date.now() - loadedAt < RENEW_MS) return
      // Only a server that answers can give the page again.
      const answer = await fetch(document.baseURI, { cache: 'no-store' }).catch(() => null)
      if (answer?.ok) location.reload()
    }, LOOK_MS)
    return () => clearInterval(timer)
  }, [])
}
