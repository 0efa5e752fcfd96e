import { isReachable } from '../api/live'

const KEY = 'belvedere-reloaded'
const PAUSE_MS = 30_000

/** Reloads the page when the server responds, but not again and again; returns undo. */
export function reloadWhenReachable(): () => void {
  if (Date.now() - Number(sessionStorage.getItem(KEY)) < PAUSE_MS) return () => {}
  const timer = setInterval(async () => {
    if (!(await isReachable())) return
    clearInterval(timer)
    sessionStorage.setItem(KEY, String(Date.now()))
    location.reload()
  }, 1_000)
  return () => clearInterval(timer)
}
