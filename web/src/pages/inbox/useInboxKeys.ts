import { useKeys } from '../../app/keys'

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-row]')]
}

function here(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]') ?? null
}

function move(by: number): void {
  const all = rows()
  const at = here() ? all.indexOf(here()!) + by : 0
  const next = all[Math.min(all.length - 1, Math.max(0, at))]
  next?.querySelector<HTMLElement>('a')?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

function press(row: HTMLElement | null | undefined, action: string): void {
  row?.querySelector<HTMLElement>(`[data-act="${action}"]`)?.click()
}

/**
 * A decision needs a row in focus: a request that has just arrived is the first row. To open and
 * to select are harmless, and mean the first row if none is in focus.
 */
export function useInboxKeys(): void {
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: () => press(here(), 'approve'),
    'Shift+r': () => press(here(), 'reject'),
    x: () => press(here() ?? rows()[0], 'select'),
    Enter: () => {
      const focused = document.activeElement as HTMLElement | null
      if (focused?.closest('a, button')) focused.click()
      else press(here() ?? rows()[0], 'open')
    },
  })
}
