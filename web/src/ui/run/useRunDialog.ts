import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/** Whether the run dialog of the page is open. The address `?run=true` opens it once and loses the
 * parameter: otherwise a reload, Back or a copied address would open it again. */
export function useRunDialog(): [boolean, (isOpen: boolean) => void] {
  const navigate = useNavigate()
  const { run = false } = useSearch({ strict: false }) as { run?: boolean }
  const [isOpen, setOpen] = useState(run)
  useEffect(() => {
    if (!run) return
    setOpen(true)
    const withoutRun = ({ run, ...search }: { run?: boolean }) => search
    void navigate({ to: '.', search: withoutRun as never, replace: true })
  }, [run, navigate])
  return [isOpen, setOpen]
}
