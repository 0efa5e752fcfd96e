import type { RawSearch } from '../../lib/search'

export interface LoginSearch {
  /** The local address to open after the sign-in. */
  to?: string
  /** Why a sign-in through a provider failed. */
  problem?: string
}

/** `to` must be a path of this site, never another site. */
export function validLoginSearch({ to, problem }: RawSearch): LoginSearch {
  return {
    ...(typeof to === 'string' && /^\/(?![/\\])/.test(to) ? { to } : {}),
    ...(typeof problem === 'string' ? { problem } : {}),
  }
}
