import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { ComponentPropsWithoutRef, Ref } from 'react'

type Search = Record<string, unknown>

interface Props extends Omit<ComponentPropsWithoutRef<'a'>, 'href'> {
  /** A path inside the organization: `/jobs/${id}`. */
  to: string
  search?: Search
  hash?: string
  ref?: Ref<HTMLAnchorElement>
}

/** A link to a page of this organization. */
export function Go({ to, search, hash, ...rest }: Props) {
  const place = usePlace()
  return (
    <Link
      activeOptions={{ exact: true, includeSearch: false }}
      to={place(to) as '/'}
      search={(search ?? {}) as never}
      hash={hash}
      {...rest}
    />
  )
}

/** The whole path of a page of this organization. */
export function usePlace(): (to: string) => string {
  const { customer } = useParams({ strict: false }) as { customer?: string }
  return (to) => `/${encodeURIComponent(customer ?? '')}${to === '/' ? '' : to}`
}

/** `const go = useGo(); go('/jobs/1')` */
export function useGo(): (to: string, search?: Search) => void {
  const place = usePlace()
  const navigate = useNavigate()
  return (to, search = {}) => void navigate({ to: place(to) as '/', search: search as never })
}
