import { useEffect, useRef } from 'react'

/** On a narrow screen a row of tabs scrolls: the one that is open comes into view. */
export function useTabInView<T extends HTMLElement = HTMLDivElement>(tab: string) {
  const list = useRef<T>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    list.current
      ?.querySelector('[role="tab"][aria-selected="true"]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [tab])
  return list
}
