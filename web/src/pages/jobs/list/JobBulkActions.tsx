import { Button, Group, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ban, X } from 'lucide-react'
import { useState } from 'react'
import { api, ok } from '../../../api/client'
import type { Job } from '../../../api/queries/job'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { isOver } from '../../../lib/state'
import { ConfirmDialog } from '../../../ui/form/ConfirmDialog'
import { showError, showSuccess } from '../../../ui/toast'
import { useJobsText } from '../listText'
import type { Selection } from './useSelection'

const AT_ONCE = 1_000

async function cancel(ids: string[]) {
  const results = []
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const body = { ids: ids.slice(at, at + AT_ONCE) }
    results.push(...(await ok(api.POST('/job/cancel', { body }))).results)
  }
  return results
}

/** The actions for the selected rows, in the place of the filters. */
export function JobBulkActions({ selection, rows }: { selection: Selection; rows: Job[] }) {
  const t = useJobsText()
  const may = useCan()('job.act')
  const client = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const open = rows.filter((row) => selection.chosen.has(row.id) && !isOver(row))
  const canceling = useMutation({
    mutationFn: () => cancel(open.map((row) => row.id)),
    onSuccess: (results) => {
      const refused = results.filter((result) => !result.done)
      if (results.length > refused.length) showSuccess(t.canceled(results.length - refused.length))
      if (refused.length) showError(`${t.refused(refused.length)}: ${refused[0]!.message}`)
      selection.clear()
      void client.invalidateQueries({ queryKey: ['job'] })
    },
    onError: showError,
    onSettled: () => setAsking(false),
  })
  useKeys({ Escape: selection.clear })
  return (
    <Group className="head jobs-bulk" gap={8}>
      <Text size="sm" fw={600} role="status">
        {t.selected(selection.chosen.size)}
      </Text>
      <Button
        variant="outline"
        className="jobs-cancel"
        leftSection={<Ban size={14} />}
        disabled={!may || open.length === 0}
        onClick={() => setAsking(true)}
      >
        {t.cancel} ({open.length})
      </Button>
      <Button variant="subtle" leftSection={<X size={14} />} onClick={selection.clear}>
        {t.none}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={t.cancelTitle(open.length)}
        action={t.cancel}
        dismiss={t.keepRunning}
        busy={canceling.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => canceling.mutate()}
      >
        {t.cancelBody}
      </ConfirmDialog>
    </Group>
  )
}
