import type { ReactNode } from 'react'
import { Missing } from '../app/ErrorPage'
import type { Act } from '../app/permissions'
import { useCan } from '../app/session'

/** A form for those who may send it; for others there is nothing at its address. */
export function Only({ act, children }: { act: Act; children: ReactNode }) {
  return useCan()(act) ? children : <Missing />
}
