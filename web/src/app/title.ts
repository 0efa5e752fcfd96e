import { useEffect, useSyncExternalStore } from 'react'

let title = ''
let alarm = ''
const tellers = new Set<() => void>()

function show(): void {
  document.title = [alarm, title, 'Belvedere'].filter(Boolean).join(' · ')
  for (const tell of tellers) tell()
}

/** The page's name: its heading and, first, the tab's. */
export function usePageTitle(name: string): void {
  useEffect(() => {
    title = name
    show()
  }, [name])
}

/** What stands before the name in the tab while something is wrong: "2 failing". */
export function useAlarm(text: string): void {
  useEffect(() => {
    alarm = text
    show()
  }, [text])
}

export function useTitle(): string {
  return useSyncExternalStore(
    (tell) => {
      tellers.add(tell)
      return () => tellers.delete(tell)
    },
    () => title,
  )
}
