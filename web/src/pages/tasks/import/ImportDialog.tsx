import { Select, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ok, type Shape, untypedQuery } from '../../../api/client'
import { hostNamesQuery, MAX_CHOICES } from '../../../api/queries/names'
import { Dialog } from '../../../ui/form/Dialog'
import { FormDialog } from '../../../ui/form/FormDialog'
import { showError } from '../../../ui/toast'
import { ImportReport } from './ImportReport'
import { useText } from './text'

const MAX_BYTES = 32 * 1024 * 1024

/** Asks for the file and the host, then shows the result. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useText()
  const client = useQueryClient()
  const send = useMutation({
    mutationFn: importRecipe,
    onSuccess: () => {
      for (const object of ['task', 'workflow', 'file'])
        void client.invalidateQueries({ queryKey: [object] })
    },
    onError: showError,
  })
  if (!send.data)
    return <RecipeForm busy={send.isPending} onClose={onClose} onSubmit={send.mutate} />
  return (
    <Dialog opened size="xl" title={t.done} onClose={onClose}>
      <ImportReport result={send.data} onOpen={onClose} />
    </Dialog>
  )
}

interface Recipe {
  content: object
  hostname: string | null
}

function importRecipe({ content, hostname }: Recipe): Promise<Shape<'Imported'>> {
  const query = untypedQuery({ hostname: hostname ?? undefined })
  return ok(api.POST('/workflows/import', { params: { query }, body: content as never }))
}

interface FormProps {
  busy: boolean
  onClose: () => void
  onSubmit: (recipe: Recipe) => void
}

function RecipeForm({ busy, onClose, onSubmit }: FormProps) {
  const t = useText()
  const { data: hosts = [] } = useQuery(hostNamesQuery)
  const names = hosts.map((host) => host.name)
  const [content, setContent] = useState<object | null>(null)
  const [fault, setFault] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const hostname = chosen ?? (names.length === 1 ? names[0]! : null)
  const choose = async (next: File | null) => {
    setContent(null)
    setFault(next && next.size > MAX_BYTES ? t.tooLarge : '')
    if (!next || next.size > MAX_BYTES) return
    const parsed = parse(await next.text())
    setContent(parsed)
    setFault(parsed ? '' : t.notJson)
  }
  return (
    <FormDialog
      title={t.title}
      action={t.import}
      busy={busy}
      disabled={!content}
      onClose={onClose}
      onSubmit={() => content && onSubmit({ content, hostname })}
    >
      <Text size="sm" c="dimmed">
        {t.about}
      </Text>
      <TextInput
        type="file"
        label={t.file}
        accept="application/json,.json"
        withAsterisk
        error={fault}
        onChange={(event) => void choose(event.currentTarget.files?.[0] ?? null)}
      />
      <Select
        label={t.host}
        description={t.hostHint}
        searchable
        clearable
        limit={MAX_CHOICES}
        data={names}
        value={hostname}
        onChange={setChosen}
      />
    </FormDialog>
  )
}

/** The object in the file; null if there is none. */
function parse(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
