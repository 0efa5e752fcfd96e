import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { showError, showSuccess } from '../../../ui/toast'
import { useJobsText } from '../listText'

/** Deletes all finished jobs; confirmed by typing a word. */
export function DeleteHistory({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useJobsText()
  const client = useQueryClient()
  const purge = useMutation({
    mutationFn: () => ok(api.DELETE('/job/finished')),
    onSuccess: (answer) => {
      showSuccess(t.historyDone(answer.deletedCount))
      void client.resetQueries({ queryKey: ['job'] })
      onClose()
    },
    onError: showError,
  })
  return (
    <ConfirmDialog
      opened={opened}
      title={t.historyTitle}
      word={t.historyWord}
      action={t.historyAction}
      busy={purge.isPending}
      onClose={onClose}
      onConfirm={() => purge.mutate()}
    >
      {t.historyBody}
    </ConfirmDialog>
  )
}
