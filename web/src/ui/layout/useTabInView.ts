import { useEffect, useRef } from 'react'

/** On a narrow screen a row of tabs scrolls: the one that is open comes into view. */
export function useTabInView<T extends HTMLElement = HTMLDivElement>(tab: string) {
  const list = useRef<T>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    const row = list.current
    if (!row) return
    const show = () =>
      row
        .querySelector('[role="tab"][aria-selected="true"]')
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    show()
    // Its width is known only now, and changes when the window or the fonts do.
    const observer = new ResizeObserver(show)
    observer.observe(row)
    return () => observer.disconnect()
  }, [tab])
  return list
}
