/** Runs before every test file. */
import { afterEach, vi } from 'vitest'
import { handleRequest, resetServer } from './server'

// The client of the interface keeps the `fetch` that it was created with, so the replacement is
// there before any component is imported.
globalThis.fetch = handleRequest

// Every entry of a select is rendered here, open or not: a few zones instead of all 400.
Intl.supportedValuesOf = () => ['America/New_York', 'Europe/Berlin', 'Europe/Madrid']

if (typeof document !== 'undefined') {
  // Mantine measures a textarea again when fonts are loaded; happy-dom has no fonts.
  if (!document.fonts) Object.defineProperty(document, 'fonts', { value: new EventTarget() })
  // No style sheet is loaded here, so inline styles are all there is. Computing more than that takes
  // most of the time of a test that looks for roles.
  window.getComputedStyle = (element) => (element as HTMLElement).style
  const { cleanup, configure } = await import('@testing-library/react')
  // Long enough for a busy machine: only a test that fails waits this long.
  configure({ asyncUtilTimeout: 10_000 })
  afterEach(() => {
    cleanup()
    localStorage.clear()
    sessionStorage.clear()
  })
}

afterEach(() => {
  vi.restoreAllMocks()
  resetServer()
})
