import { Button } from '@mantine/core'
import { Import } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useCan } from '../../../app/session'
import { useText } from '../text'

// Loaded when it is opened, so that the list of tasks stays small.
const ImportDialog = lazy(async () => ({ default: (await import('./ImportDialog')).ImportDialog }))

/**
 * The button, for people who may create tasks, and its dialog. They are separate, because the page
 * has another button once the first task exists.
 */
export function useImportRecipe(): { button: ReactNode; dialog: ReactNode } {
  const t = useText()
  const may = useCan()('task.edit')
  const [opened, setOpened] = useState(false)
  if (!may) return { button: null, dialog: null }
  return {
    button: (
      <Button variant="default" leftSection={<Import size={14} />} onClick={() => setOpened(true)}>
        {t.importRecipe}
      </Button>
    ),
    dialog: opened ? (
      <Suspense>
        <ImportDialog onClose={() => setOpened(false)} />
      </Suspense>
    ) : null,
  }
}
