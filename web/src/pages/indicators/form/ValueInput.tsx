import { NumberInput, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { scriptsQuery } from '../../../api/queries/automation/script'
import { useText } from '../text'
import { isFileId, type Values } from './indicatorDraft'

interface Props {
  values: Values
  errors: Record<string, string>
  onChange: (value: string | number) => void
}

/** The value, as its kind wants it. */
export function ValueInput({ values, errors, onChange }: Props) {
  const t = useText()
  // The server names the invalid part of a chart.
  const wrong = Object.entries(errors).find(([field]) => field.startsWith('value'))
  const error = wrong && (wrong[0] === 'value' ? wrong[1] : `${wrong[0]}: ${wrong[1]}`)
  const text = { label: t.value, value: String(values.value), error }
  if (values.type === 'text')
    return <TextInput {...text} onChange={(event) => onChange(event.currentTarget.value)} />
  if (values.type === 'file') return <FileInput {...text} onChange={onChange} />
  if (values.type === 'chart' || values.type === 'html')
    return (
      <Textarea
        {...text}
        description={t.valueHelp[values.type]}
        classNames={{ input: 'ind-source' }}
        spellCheck={false}
        rows={10}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  return <NumberInput label={t.value} value={values.value} error={error} onChange={onChange} />
}

interface FileProps {
  label: string
  value: string
  error: string | undefined
  onChange: (value: string) => void
}

/** A stored file, or a text of its own. */
function FileInput({ label, value, error, onChange }: FileProps) {
  const t = useText()
  const { data: files = [] } = useQuery(scriptsQuery)
  const isStored = isFileId(value)
  return (
    <Stack gap="sm">
      <Select
        label={t.storedFile}
        description={t.storedFileHelp}
        placeholder={t.ownText}
        searchable
        clearable
        data={files.map((file) => ({ value: file.id, label: file.filename }))}
        value={isStored ? value : null}
        error={isStored ? error : undefined}
        onChange={(next) => onChange(next ?? '')}
      />
      {isStored ? null : (
        <Textarea
          label={label}
          classNames={{ input: 'ind-source' }}
          spellCheck={false}
          rows={10}
          value={value}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Stack>
  )
}
