import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { api, ok } from '../../api/client'

/** A server without an organization has its own first page; only such a server has it. */
export function useSetup(isOnSetup = false): void {
  const navigate = useNavigate()
  const { data } = useQuery({
    queryKey: ['setup'],
    queryFn: () => ok(api.GET('/-/setup')),
    retry: false,
  })
  useEffect(() => {
    if (!data || data.needed === isOnSetup) return
    void navigate({ to: data.needed ? '/setup' : '/login', search: {}, replace: true })
  }, [data, isOnSetup, navigate])
}
