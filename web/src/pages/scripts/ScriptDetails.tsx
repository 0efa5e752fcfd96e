import { Button, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { byField } from '../../api/errors'
import type { Script } from '../../api/queries/automation/script'
import { reportSaveError } from '../../ui/editConflict/EditConflict'
import { FieldsConflict } from '../../ui/editConflict/FieldsConflict'
import { useHeldVersion } from '../../ui/editConflict/heldVersion'
import { Section } from '../../ui/layout/Section'
import { useWords } from '../../ui/text'
import { showSuccess } from '../../ui/toast'
import { changeFile } from './files'
import { useText } from './text'

const detailsOf = ({ filename, description }: Script) => ({ filename, description })

/** Name and description; the content has a form of its own. */
export function ScriptDetails({ file, readOnly }: { file: Script; readOnly: boolean }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const heldVersion = useHeldVersion(file, detailsOf)
  const { values, set, isDirty } = heldVersion
  const again = () => void client.invalidateQueries({ queryKey: ['file'] })
  const save = useMutation({
    mutationFn: () => changeFile(heldVersion.base, values),
    onSuccess: (saved) => {
      heldVersion.rebase(saved, false)
      again()
      showSuccess(w.saved)
    },
    onError: (fault) => reportSaveError(fault, again),
  })
  const errors = byField(save.error)
  return (
    <Section title={t.details} padded>
      <Stack gap={8}>
        <FieldsConflict object="file" heldVersion={heldVersion} fieldsOf={detailsOf} save={save} />
        <TextInput
          label={t.filename}
          readOnly={readOnly}
          value={values.filename}
          error={errors.filename}
          onChange={(event) => set({ filename: event.currentTarget.value })}
        />
        <Textarea
          label={t.description}
          autosize
          minRows={1}
          maxRows={5}
          readOnly={readOnly}
          value={values.description}
          error={errors.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
        />
        {readOnly ? null : (
          <Button
            variant="default"
            disabled={!isDirty}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {w.save}
          </Button>
        )}
      </Stack>
    </Section>
  )
}
