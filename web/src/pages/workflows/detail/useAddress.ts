import { useSearch } from '@tanstack/react-router'
import { useAppNavigate } from '../../../ui/AppLink'
import type { WorkflowSearch } from '../search'

/** The typed parameters of the address: with or without a tab, it is the same page. */
export function useAddress() {
  const go = useAppNavigate()
  const search = useSearch({ strict: false }) as WorkflowSearch
  return { search, go }
}
