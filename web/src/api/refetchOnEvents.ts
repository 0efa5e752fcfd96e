import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { onEvents } from './live'

/** Reads a query again after events of other objects, at most this often: for lists that are
 * expensive and need not be exact to the second. */
export function useRefetchOnEvents(objects: string[], key: QueryKey, everyMs = 3_000): void {
  const client = useQueryClient()
  const now = useRef({ objects, key })
  now.current = { objects, key }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = 0
    const look = () => {
      timer = undefined
      last = Date.now()
      const { key: queryKey } = now.current
      void client.invalidateQueries({ queryKey, type: 'inactive', refetchType: 'none' })
      // Not invalidated: these events change only parts of a row, which a query may read alone.
      void client.refetchQueries({ queryKey, type: 'active' })
    }
    const undo = onEvents((events) => {
      if (timer || !events.some((event) => now.current.objects.includes(event.object))) return
      timer = setTimeout(look, Math.max(300, last + everyMs - Date.now()))
    })
    return () => {
      undo()
      clearTimeout(timer)
    }
  }, [client, everyMs])
}
