import { useEffect, useSyncExternalStore } from 'react'
import { showProblems } from '../lib/tabIcon'

let title = ''
let heading = ''
let alarm = ''
const listeners = new Set<() => void>()

function show(): void {
  document.title = [alarm, title, 'Belvedere'].filter(Boolean).join(' · ')
  for (const listener of listeners) listener()
}

/** The page's name in the browser's tab, and its heading where that is another: a record's page
 * is headed by its kind. */
export function usePageTitle(name: string, head = name): void {
  useEffect(() => {
    title = name
    heading = head
    show()
  }, [name, head])
}

/** The number of problems: in the tab's icon, and before its name, short, for tabs are narrow. */
export function useTitleAlarm(failing: number): void {
  useEffect(() => {
    alarm = failing ? `(${failing}!)` : ''
    show()
    showProblems(failing)
  }, [failing])
}

/** The name of the page: of the record that it shows. */
export function usePageName(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => title,
  )
}

export function useTitle(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => heading,
  )
}
