import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { startLive } from '../api/live'
import { profileQuery } from './session'

/** One event stream while anybody is signed in; a session that ended leads to the sign-in page. */
export function useStream(): void {
  const client = useQueryClient()
  const router = useRouter()
  useEffect(
    () =>
      startLive(client, () => {
        client.removeQueries({ queryKey: profileQuery.queryKey })
        void router.invalidate()
      }),
    [client, router],
  )
}
