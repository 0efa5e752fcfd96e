import { useKeys } from '../../app/keys'

/**
 * j and k walk over the rows of a list by moving the focus, so that Enter opens natively and a
 * screen reader announces the row. A row has `data-row`; what r, e and . press in it has
 * `data-act="run"`, "edit", "menu".
 */
export function useRowKeys(): void {
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    r: () => press('run'),
    e: () => press('edit'),
    '.': () => press('menu'),
  })
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-row]')]
}

function here(): HTMLElement | null {
  return (document.activeElement as HTMLElement | null)?.closest<HTMLElement>('[data-row]') ?? null
}

function step(by: number): void {
  const all = rows()
  const now = here()
  const next = all[now ? all.indexOf(now) + by : 0]
  const link = next?.matches('a') ? next : next?.querySelector<HTMLElement>('a, button')
  link?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

function press(action: string): void {
  here()?.querySelector<HTMLElement>(`[data-act="${action}"]`)?.click()
}
