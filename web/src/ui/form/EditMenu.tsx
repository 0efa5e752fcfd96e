import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ellipsis } from 'lucide-react'
import { useState } from 'react'
import { useWords } from '../text'
import { showError } from '../toast'
import { ConfirmDialog } from './ConfirmDialog'

interface Props {
  name: string
  onEdit: () => void
  /** Deletes it, after a question. */
  remove: () => Promise<unknown>
  /** The query that is loaded again afterwards. */
  queryKey: readonly unknown[]
}

/** Edit and delete, at the end of a row. */
export function EditMenu({ name, onEdit, remove, queryKey }: Props) {
  const w = useWords()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const drop = useMutation({
    mutationFn: remove,
    onError: showError,
    onSettled: () => {
      setAsking(false)
      void client.invalidateQueries({ queryKey })
    },
  })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`${w.actions}: ${name}`}>
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onEdit}>{w.edit}</Menu.Item>
          <Menu.Item color="red" onClick={() => setAsking(true)}>
            {w.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={isAsking}
        title={w.reallyDelete(name)}
        action={w.delete}
        busy={drop.isPending}
        onClose={() => setAsking(false)}
        onConfirm={drop.mutate}
      />
    </>
  )
}
