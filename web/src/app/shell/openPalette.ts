import { useSyncExternalStore } from 'react'

// The palette's code is loaded when it is first opened, so this part is separate.
let requests = 0
const listeners = new Set<() => void>()

export function openPalette(): void {
  requests += 1
  for (const listener of listeners) listener()
}

/** How often it was requested; 0: never. */
export function usePaletteRequests(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => requests,
  )
}
