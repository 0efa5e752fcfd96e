import type { ReactNode } from 'react'
import type { Act } from '../app/can'
import { useCan } from '../app/session'
import { Missing } from '../app/Trouble'

/** A form for those who may send it; for others there is nothing at its address. */
export function Only({ act, children }: { act: Act; children: ReactNode }) {
  return useCan()(act) ? children : <Missing />
}
