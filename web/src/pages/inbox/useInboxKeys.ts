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

/** Without a row in focus, keys mean the first: what came last. */
function press(action: string): void {
  const row = here() ?? rows()[0]
  row?.querySelector<HTMLElement>(`[data-act="${action}"]`)?.click()
}

export function useInboxKeys(): void {
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: () => press('approve'),
    'Shift+r': () => press('reject'),
    x: () => press('select'),
    Enter: () => {
      const focused = document.activeElement as HTMLElement | null
      if (focused?.closest('a, button')) focused.click()
      else press('open')
    },
  })
}
