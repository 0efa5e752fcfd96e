import { useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../api/client'
import { type IndicatorLine, tilesQuery } from '../../api/queries/monitoring/indicator'
import { showError } from '../toast'

export type Count = 'increase' | 'decrease' | 'restart'

const NEXT: Record<Count, (value: number) => number> = {
  increase: (value) => value + 1,
  decrease: (value) => Math.max(0, value - 1),
  restart: () => 1,
}

/** The actions of a tile's menu: shown at once, reverted if the server refuses. */
export function useTileActions(indicator: IndicatorLine) {
  const client = useQueryClient()
  const key = tilesQuery.queryKey
  const attempt = async (
    change: (rows: IndicatorLine[]) => IndicatorLine[],
    call: Promise<unknown>,
  ) => {
    await client.cancelQueries({ queryKey: key })
    const before = client.getQueryData(key)
    client.setQueryData(key, (old) => old && { ...old, rows: change(old.rows) })
    try {
      await call
    } catch (fault) {
      client.setQueryData(key, before)
      showError(fault)
    }
    void client.invalidateQueries({ queryKey: ['indicator'] })
  }
  const path = { params: { path: { id: indicator.id } } }
  return {
    count: (how: Count) => {
      const value = NEXT[how](Number(indicator.value))
      const calls = {
        increase: () => api.PATCH('/indicator/{id}/increase', path),
        decrease: () => api.PATCH('/indicator/{id}/decrease', path),
        restart: () => api.PATCH('/indicator/{id}/restart', path),
      }
      void attempt(
        (rows) => rows.map((row) => (row.id === indicator.id ? { ...row, value } : row)),
        ok(calls[how]()),
      )
    },
    dismiss: () =>
      void attempt(
        (rows) => rows.filter((row) => row.id !== indicator.id),
        ok(api.DELETE('/indicator/{id}', path)),
      ),
  }
}
