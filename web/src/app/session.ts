import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, ok, type Shape } from '../api/client'
import { type Action, hasLevel, isAllowed, type Level } from './permissions'

export type Profile = Shape<'Profile'>

/** The signed-in person. Requested once per page load, and again after a 401. */
export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: () => ok<Profile>(api.GET('/api/session/profile')),
  staleTime: 60_000,
  retry: false,
})

/** The signed-in person; only for pages below the shell, which waits for it. */
export function useProfile(): Profile {
  const { data } = useQuery(profileQuery)
  if (!data) throw new Error('asked for the profile outside of the shell')
  return data
}

const WARNING_MS = 10 * 60_000

/** Whether the session ends within minutes. */
export function useEndsSoon(): boolean {
  const { expires } = useProfile()
  const [isSoon, setSoon] = useState(false)
  useEffect(() => {
    if (!expires) return
    const delay = Date.parse(expires) - Date.now() - WARNING_MS
    setSoon(delay <= 0)
    const timer = setTimeout(() => setSoon(true), Math.max(0, delay))
    return () => clearTimeout(timer)
  }, [expires])
  return isSoon
}

/** Whether this person may do something: `useCan()('task.edit')`. */
export function useCan(): (action: Action) => boolean {
  const { credential } = useProfile()
  return (action) => isAllowed(credential, action)
}

export function useHasLevel(level: Level): boolean {
  return hasLevel(useProfile().credential, level)
}
