import '@mantine/core/styles.css'
import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './tokens.css'
import './app.css'
import { MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { isFinal } from './api/errors'
import { usePrefs } from './lib/prefs'
import { makeRouter } from './router'
import { theme, variables } from './theme'

// There is nothing to report before the first page is shown; earlier messages wait.
const Toasts = lazy(() => import('./ui/Toasts'))

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Events report changes; without them a page is loaded again when it is shown again.
      staleTime: 30_000,
      retry: (count, error) => !isFinal(error) && count < 2,
    },
  },
})
const router = makeRouter(client)

function Console() {
  const { scheme, density, language, motion } = usePrefs()
  useEffect(() => {
    document.documentElement.lang = language
    document.documentElement.dataset.density = density
    document.documentElement.classList.toggle('no-motion', !motion)
  }, [language, density, motion])
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      forceColorScheme={useScheme(scheme)}
    >
      <Suspense>
        <Toasts />
      </Suspense>
      <RouterProvider router={router} />
    </MantineProvider>
  )
}

const DARK = matchMedia('(prefers-color-scheme: dark)')

function useScheme(preference: 'light' | 'dark' | 'auto'): 'light' | 'dark' {
  const system = useSystemScheme()
  return preference === 'auto' ? system : preference
}

function useSystemScheme(): 'light' | 'dark' {
  const isDark = useSyncExternalStore(
    (listener) => {
      DARK.addEventListener('change', listener)
      return () => DARK.removeEventListener('change', listener)
    },
    () => DARK.matches,
  )
  return isDark ? 'dark' : 'light'
}

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={client}>
    <Console />
  </QueryClientProvider>,
)
