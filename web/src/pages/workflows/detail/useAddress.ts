import { useSearch } from '@tanstack/react-router'
import { useGo } from '../../../ui/AppLink'
import type { WorkflowSearch } from '../search'

/** The typed parameters of the address: with or without a tab, it is the same page. */
export function useAddress() {
  const go = useGo()
  const search = useSearch({ strict: false }) as WorkflowSearch
  return { search, go }
}
