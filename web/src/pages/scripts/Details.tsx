import { Button, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { byField } from '../../api/errors'
import type { Script } from '../../api/queries/script'
import { Section } from '../../ui/Section'
import { useWords } from '../../ui/text'
import { done, failed } from '../../ui/toast'
import { changeFile } from './files'
import { useText } from './text'

/** Name and description; the content has a form of its own. */
export function Details({ file, readOnly }: { file: Script; readOnly: boolean }) {
  const t = useText()
  const w = useWords()
  const client = useQueryClient()
  const [filename, setFilename] = useState(file.filename)
  const [description, setDescription] = useState(file.description)
  const save = useMutation({
    mutationFn: () => changeFile(file, { filename, description }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['file'] })
      done(w.saved)
    },
    onError: failed,
  })
  const errors = byField(save.error)
  const isDirty = filename !== file.filename || description !== file.description
  return (
    <Section title={t.details} padded>
      <Stack gap={8}>
        <TextInput
          label={t.filename}
          readOnly={readOnly}
          value={filename}
          error={errors.filename}
          onChange={(event) => setFilename(event.currentTarget.value)}
        />
        <Textarea
          label={t.description}
          autosize
          minRows={1}
          maxRows={5}
          readOnly={readOnly}
          value={description}
          error={errors.description}
          onChange={(event) => setDescription(event.currentTarget.value)}
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
