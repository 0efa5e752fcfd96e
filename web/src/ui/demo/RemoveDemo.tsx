import { Button, List, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { api, ok, type Shape } from '../../api/client'
import { catalogue, plural } from '../../lib/i18n'
import { showError, showSuccess } from '../toast'

// Loaded when it is opened: the dashboard shows the button to new users.
const ConfirmDialog = lazy(() =>
  import('../form/ConfirmDialog').then((module) => ({ default: module.ConfirmDialog })),
)

const useText = catalogue(
  {
    remove: 'Remove demo',
    title: 'Remove the demo?',
    body: 'The tasks, scripts, monitors, indicators, the workflow, the webhook and the schedule that the first start created are deleted. What you changed or use is kept.',
    keep: 'Keep demo',
    removed: (n: number) => `Removed: ${plural(n, 'demo object', 'demo objects')}.`,
    remaining: (n: number) => `${plural(n, 'demo object was', 'demo objects were')} kept:`,
  },
  {
    remove: 'Quitar la demo',
    title: '¿Quitar la demo?',
    body: 'Se borran las tareas, scripts, monitores, indicadores, el flujo, el webhook y el horario que creó el primer inicio. Lo que cambiaste o usas se conserva.',
    keep: 'Conservar la demo',
    removed: (n: number) => `Se quitaron ${plural(n, 'objeto', 'objetos')} de la demo.`,
    remaining: (n: number) => `Se conservaron ${plural(n, 'objeto', 'objetos')} de la demo:`,
  },
)

/** Deletes all objects of the demo that nobody has changed or uses, and says which remain. */
export function RemoveDemo() {
  const t = useText()
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () => ok<Shape<'Removal'>>(api.DELETE('/api/demo')),
    onSuccess: (removal) => {
      showSuccess(t.removed(removal.removed.length))
      if (!removal.kept.length) setAsking(false)
      void client.invalidateQueries()
    },
    onError: showError,
  })
  const remaining = remove.data?.kept ?? []
  return (
    <>
      <Button variant="subtle" size="compact-sm" onClick={() => setAsking(true)}>
        {t.remove}
      </Button>
      {isAsking ? (
        <Suspense>
          <ConfirmDialog
            opened
            title={t.title}
            action={t.remove}
            dismiss={t.keep}
            busy={remove.isPending}
            onClose={() => setAsking(false)}
            onConfirm={() => remove.mutate()}
          >
            {t.body}
            {remaining.length ? (
              <>
                <Text size="sm" mt="sm">
                  {t.remaining(remaining.length)}
                </Text>
                <List size="sm">
                  {remaining.map(({ id, name, reason }) => (
                    <List.Item key={id}>
                      {name}: {reason}
                    </List.Item>
                  ))}
                </List>
              </>
            ) : null}
          </ConfirmDialog>
        </Suspense>
      ) : null}
    </>
  )
}
