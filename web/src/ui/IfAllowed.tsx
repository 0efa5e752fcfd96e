import type { ReactNode } from 'react'
import { NotFoundPage } from '../app/ErrorPage'
import type { Action } from '../app/permissions'
import { useCan } from '../app/session'

/** A form for people who may send it; for others its address shows nothing. */
export function IfAllowed({ action, children }: { action: Action; children: ReactNode }) {
  return useCan()(action) ? children : <NotFoundPage />
}
