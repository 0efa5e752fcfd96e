/** Logs for component tests. */
import { vi } from 'vitest'
import { LogStore } from '../../src/ui/log/data/logStore'

/** A log that received these pieces of output. */
export function logOf(...pieces: string[]): LogStore {
  const store = new LogStore(async (first) => ({ first, lines: [] }))
  for (const piece of pieces) store.append(piece)
  return store
}

export const numberedLines = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

export const rowsOf = (store: LogStore) =>
  Array.from({ length: store.rows }, (_, row) => store.text(row))

/** One event of a stream, as the server writes it. */
export function eventText(event: string, data: unknown, id = ''): string {
  return `${id && `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Waits for something that needs no user: a stream, a timer. Long enough for a busy machine. */
export const eventually = <T>(check: () => T): Promise<T> => vi.waitFor(check, { timeout: 10_000 })

/** happy-dom lays nothing out: the window gets a size, and its content the height it asks for. */
export function giveLogWindowSize(width = 800, height = 400): void {
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(width)
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(height)
  vi.spyOn(HTMLElement.prototype, 'scrollHeight', 'get').mockImplementation(function scrollHeight(
    this: HTMLElement,
  ) {
    return Number.parseInt(this.querySelector<HTMLElement>('.log-size')?.style.height ?? '0', 10)
  })
}
