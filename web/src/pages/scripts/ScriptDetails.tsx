import { Stack, Textarea, TextInput } from '@mantine/core'
import { byField } from '../../api/errors'
import { FieldsConflict } from '../../ui/editConflict/FieldsConflict'
import { Section } from '../../ui/layout/Section'
import { useText } from './text'
import { detailsOf, type ScriptForm } from './useScriptForm'

/** Name and description, saved by the button of the page. */
export function ScriptDetails({ form, readOnly }: { form: ScriptForm; readOnly: boolean }) {
  const t = useText()
  const { values, set } = form.details
  const errors = byField(form.error)
  return (
    <Section title={t.details} padded>
      <Stack gap={8}>
        <FieldsConflict object="file" heldVersion={form.details} fieldsOf={detailsOf} save={form} />
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
      </Stack>
    </Section>
  )
}
