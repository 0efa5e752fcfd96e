import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ok } from '../../../api/client'
import { Confirm } from '../../../ui/form/ConfirmDialog'
import { done, failed } from '../../../ui/toast'
import { useJobsText } from '../listText'

/** Deletes all ended jobs; asked for by typing a word. */
export function History({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useJobsText()
  const client = useQueryClient()
  const purge = useMutation({
    mutationFn: () => ok(api.DELETE('/job/finished')),
    onSuccess: (answer) => {
      done(t.historyDone(Number((answer as Record<string, number>).deletedCount ?? 0)))
      void client.resetQueries({ queryKey: ['job'] })
      onClose()
    },
    onError: failed,
  })
  return (
    <Confirm
      opened={opened}
      title={t.historyTitle}
      word={t.historyWord}
      action={t.history}
      busy={purge.isPending}
      onClose={onClose}
      onConfirm={() => purge.mutate()}
    >
      {t.historyBody}
    </Confirm>
  )
}
