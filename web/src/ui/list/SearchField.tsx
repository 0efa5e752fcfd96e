import { TextInput } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { FilterX, Search } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useKeys } from '../../app/keys'
import { EmptyState } from '../layout/EmptyState'
import type { ListSearch } from './listSearch'
import { useSearchText } from './searchText'
import './searchField.css'

/** The search text, and whether a text contains it, ignoring case. */
export function useListSearch(): { filterText: string; isIn: (text: string) => boolean } {
  const { q = '' } = useSearch({ strict: false }) as ListSearch
  const filterText = q.trim().toLowerCase()
  return { filterText, isIn: (text) => text.toLowerCase().includes(filterText) }
}

/** The field that filters a list. `/` focuses it, and its text is kept in the address. */
export function SearchField({ label }: { label: string }) {
  const { q = '' } = useSearch({ strict: false }) as ListSearch
  const navigate = useNavigate()
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(q)
  useKeys({ '/': () => field.current?.focus() })
  // While a person types, the field is ahead of the address.
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(q)
  }, [q])
  const seek = (text: string) => {
    setTyped(text)
    const search = (now: ListSearch) => ({ ...now, q: text || undefined })
    void navigate({ to: '.', search: search as never, replace: true, resetScroll: false })
  }
  return (
    <TextInput
      ref={field}
      size="xs"
      className="find"
      leftSection={<Search size={14} />}
      placeholder={label}
      aria-label={label}
      value={typed}
      onChange={(event) => seek(event.currentTarget.value)}
    />
  )
}

/** The text for a filter without matches. */
export function NoMatches() {
  const t = useSearchText()
  return (
    <EmptyState icon={FilterX} title={t.noMatches}>
      {t.noMatchesBody}
    </EmptyState>
  )
}
