import { useSyncExternalStore } from 'react'

const ATTRIBUTE = 'data-mantine-color-scheme'

function subscribe(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange)
  observer.observe(document.documentElement, { attributeFilter: [ATTRIBUTE] })
  return () => observer.disconnect()
}

/**
 * The theme that the page's variables have now. The theme's own hook changes before the page does:
 * a canvas that reads colours then would have those of the theme before.
 */
export function useAppliedScheme(): string | null {
  return useSyncExternalStore(subscribe, () => document.documentElement.getAttribute(ATTRIBUTE))
}
