import { useSyncExternalStore } from 'react'

// The palette's code is loaded when somebody first asks for it, so this much of it lives apart.
let asked = 0
const tellers = new Set<() => void>()

export function openPalette(): void {
  asked += 1
  for (const tell of tellers) tell()
}

/** How often it was asked for; 0: never. */
export function useAsked(): number {
  return useSyncExternalStore(
    (tell) => {
      tellers.add(tell)
      return () => tellers.delete(tell)
    },
    () => asked,
  )
}
