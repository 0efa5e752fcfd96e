import { useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../api/client'
import { showError } from '../../ui/toast'

export type MonitorAction = 'mute' | 'unmute' | 'pause' | 'resume' | 'delete'

/** Requests in flight at once when many monitors are changed. */
const AT_ONCE = 6
const HOUR = 3_600_000

/** How long a mute or a pause may last; null: until it is ended. */
export const DURATIONS = [HOUR, 8 * HOUR, 24 * HOUR, 168 * HOUR, null] as const

function call(action: MonitorAction, id: string, ms: number | null): Promise<unknown> {
  const path = { params: { path: { id } } }
  const body = ms === null ? {} : { until: new Date(Date.now() + ms).toISOString() }
  switch (action) {
    case 'mute':
      return ok(api.PUT('/monitor/{id}/mute', { ...path, body }))
    case 'pause':
      return ok(api.PUT('/monitor/{id}/pause', { ...path, body }))
    case 'unmute':
      return ok(api.PUT('/monitor/{id}/unmute', path))
    case 'resume':
      return ok(api.PUT('/monitor/{id}/resume', path))
    case 'delete':
      return ok(api.DELETE('/monitor/{id}', path))
  }
}

/** Applies an action to one or many monitors, and reports how many succeeded. */
export function useMonitorActions() {
  const client = useQueryClient()
  return async (
    action: MonitorAction,
    ids: string[],
    ms: number | null = null,
  ): Promise<number> => {
    let good = 0
    const waiting = [...ids]
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        try {
          await call(action, id, ms)
          good += 1
        } catch (fault) {
          showError(fault)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    void client.invalidateQueries({ queryKey: ['monitor'] })
    void client.invalidateQueries({ queryKey: ['counts'] })
    return good
  }
}
