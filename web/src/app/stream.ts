import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { startLive } from '../api/live'
import { profileQuery } from './session'

/** One event stream while anybody is signed in. Refused for good, or for another reason? Without
 * a person the page starts over, which leads to the sign-in and back. */
export function useStream(): void {
  const client = useQueryClient()
  useEffect(
    () =>
      startLive(client, () => {
        client.fetchQuery({ ...profileQuery, staleTime: 0 }).catch(() => location.reload())
      }),
    [client],
  )
}
