import { useEffect, useRef } from 'react'

/** On a narrow screen a row of tabs scrolls: the one that is open comes into view. */
export function useTabInView<T extends HTMLElement = HTMLDivElement>(tab: string) {
  const list = useRef<T>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    const row = list.current
    if (!row) return
    const show = () => scrollRow(row, row.querySelector('[role="tab"][aria-selected="true"]'))
    show()
    // Its width is known only now, and changes when the window or the fonts do.
    const observer = new ResizeObserver(show)
    observer.observe(row)
    return () => observer.disconnect()
  }, [tab])
  return list
}

/** Not `scrollIntoView`: it would scroll the page too, away from what is being read. */
function scrollRow(row: HTMLElement, tab: Element | null): void {
  if (!tab) return
  const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()]
  if (inner.left < outer.left) row.scrollLeft -= outer.left - inner.left
  if (inner.right > outer.right) row.scrollLeft += inner.right - outer.right
}
