/** Renders a component as the console does: with the theme, without animation. */
import { MantineProvider } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { act, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import type { ReactElement, ReactNode } from 'react'
import { vi } from 'vitest'

function Provider({ children }: { children: ReactNode }) {
  return <MantineProvider env="test">{children}</MantineProvider>
}

export function renderInConsole(element: ReactElement) {
  return render(element, { wrapper: Provider })
}

interface PageOptions {
  /** Where the page is: below the organization `acme`. */
  address?: string
  /** The path of the page's route, for pages that read their own route. */
  path?: string
  /** The level of the signed-in person. */
  level?: string
  /** Reads the search parameters, as the route of the page does. */
  validateSearch?: (search: Record<string, unknown>) => object
}

/** Renders a page or a part of one: with queries, a signed-in person and a router. */
export async function renderPage(element: ReactNode, options: PageOptions = {}) {
  const { address = '/', path = '$', level = 'owner', validateSearch } = options
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Infinity } },
  })
  client.setQueryData(['profile'], profileOf(level))
  const root = createRootRoute()
  const page = createRoute({
    getParentRoute: () => root,
    path: `$customer/${path}`,
    component: () => element,
    validateSearch,
  })
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: [`/acme${address}`] }),
    context: { client },
    defaultNotFoundComponent: () => null,
  } as never)
  await router.load()
  const view = renderInConsole(
    <QueryClientProvider client={client}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  )
  return { ...view, client, router, location: () => router.state.location }
}

function profileOf(credential: string) {
  return {
    id: 'me',
    credential,
    username: 'ana',
    name: 'Ana',
    email: 'ana@example.org',
    current_customer: { id: 'c1', name: 'acme' },
    customers: [{ id: 'c1', name: 'acme' }],
    theme: {},
  }
}

/** The input with this label; required fields have an asterisk behind it. */
export function field<T extends HTMLElement = HTMLInputElement>(label: string): T {
  const escaped = label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const name = new RegExp(`^${escaped}( \\*)?$`)
  return screen.getByLabelText<T>(name, { selector: 'input, textarea, select' })
}

export function enter(label: string, value: string): void {
  fireEvent.change(field(label), { target: { value } })
}

export function button(name: string | RegExp): HTMLButtonElement {
  return screen.getByRole<HTMLButtonElement>('button', { name })
}

/** Clicks, and waits for the effects. */
export async function click(name: string | RegExp, role = 'button'): Promise<void> {
  const element = await screen.findByRole(role, { name })
  await act(async () => void fireEvent.click(element))
}

/** Opens all groups of options. */
export async function openGroups(): Promise<void> {
  const heads = document.querySelectorAll('.option-head[aria-expanded="false"]')
  await act(async () => heads.forEach((head) => void fireEvent.click(head)))
}

/** The labels of the fields and, with `#`, the headings of the groups of options, in their order. */
export function formOutline(): string[] {
  const parts = document.querySelectorAll<HTMLElement>('label, .option-head')
  return [...parts]
    .filter((part) => !part.closest('[role="radiogroup"], table'))
    .map((part) => {
      const isHeading = part.matches('.option-head')
      const text = isHeading ? part.querySelector('p')?.textContent : part.textContent
      return `${isHeading ? '# ' : ''}${(text ?? '').replace(/ \*$/, '')}`
    })
}

/** The fields besides the name that are visible before a heading is opened. */
export function visibleOptions(): string[] {
  const outline = formOutline()
  const first = outline.findIndex((part) => part.startsWith('# '))
  return outline.slice(1, first < 0 ? undefined : first)
}

/** Sends the form that contains a button, as Enter does. */
export async function submit(name: string): Promise<void> {
  await act(async () => void fireEvent.submit(button(name).closest('form')!))
}

/** Presses a key where nothing has the focus. */
export function press(key: string, modifiers: KeyboardEventInit = {}): void {
  fireEvent.keyDown(document.body, { key, ...modifiers })
}

/** Chooses an entry of a select. */
export async function choose(label: string, option: string | RegExp): Promise<void> {
  const entry = await waitFor(() => {
    const list = document.getElementById(field(label).getAttribute('aria-controls') ?? '')
    if (!list) {
      // A dialog that opens takes the focus, which closes the list again.
      fireEvent.click(field(label))
      throw new Error(`the list of ${label} is not open`)
    }
    return within(list).getByRole('option', { name: option, hidden: true })
  })
  await act(async () => void fireEvent.click(entry))
}

/** The messages that are shown from now on, success and failure. */
export function watchToasts(): () => unknown[] {
  const show = vi.spyOn(notifications, 'show')
  return () => show.mock.calls.map(([toast]) => toast.message)
}
