/** Renders a component as the console does: with the theme, without animation. */
import { MantineProvider } from '@mantine/core'
import { cleanup, render } from '@testing-library/react'
import type { ReactElement, ReactNode } from 'react'
import { afterEach } from 'vitest'

// Mantine measures a textarea again when fonts arrive; happy-dom has no fonts.
Object.defineProperty(document, 'fonts', { value: new EventTarget() })

afterEach(cleanup)

function Provider({ children }: { children: ReactNode }) {
  return <MantineProvider env="test">{children}</MantineProvider>
}

export function renderInConsole(element: ReactElement) {
  return render(element, { wrapper: Provider })
}
