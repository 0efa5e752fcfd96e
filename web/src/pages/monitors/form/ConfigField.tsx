import {
  type InputWrapperProps,
  MultiSelect,
  NumberInput,
  Select,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { choiceOf, MAX_CHOICES, monitorNamesQuery } from '../../../api/queries/names'
import { fileNamesQuery } from './fileNames'
import { HeadersInput } from './HeadersInput'
import type { Field } from './kinds'
import { useKindText } from './kindText'

const ORDER: InputWrapperProps['inputWrapperOrder'] = ['label', 'input', 'description', 'error']

interface Props {
  field: Field
  value: unknown
  error?: string
  onChange: (value: unknown) => void
  /** A group cannot hold itself. */
  self?: string
}

/** One field of a monitor's form, with the input of its kind. */
export function ConfigField({ field, value, error, onChange, self }: Props) {
  const t = useKindText()
  const words = t.field[field.name]!
  const common = {
    label: words.label,
    description: words.help,
    error,
    required: field.required,
    name: field.name,
    // Help is below, so that fields side by side are aligned.
    inputWrapperOrder: ORDER,
  }
  if (typeof field.input !== 'string')
    return (
      <Select
        {...common}
        allowDeselect={false}
        data={field.input.map((severity) => ({
          value: severity,
          label: t.severities[severity] ?? severity,
        }))}
        value={String(value)}
        onChange={onChange}
      />
    )
  switch (field.input) {
    case 'number':
    case 'percent':
      return (
        <NumberInput
          {...common}
          min={0}
          max={field.input === 'percent' ? 100 : undefined}
          value={value as number | string}
          onChange={onChange}
        />
      )
    case 'seconds':
      return (
        <NumberInput
          {...common}
          min={0}
          decimalScale={1}
          value={value === '' ? '' : Number(value) / 1000}
          onChange={(s) => onChange(s === '' ? '' : Math.round(Number(s) * 1000))}
        />
      )
    case 'switch':
      return (
        <Switch
          label={words.label}
          description={words.help}
          checked={Boolean(value)}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'words':
      return <TagsInput {...common} value={value as string[]} onChange={onChange} allowDuplicates />
    case 'headers':
      return <HeadersInput {...common} value={value} onChange={onChange} />
    case 'script':
      return (
        <FileSelect
          {...common}
          required={false}
          withAsterisk
          emptyText={t.noScripts}
          value={String(value)}
          onChange={onChange}
        />
      )
    case 'file':
      return (
        <FileSelect
          {...common}
          clearable
          emptyText={t.noFiles}
          value={String(value)}
          onChange={(id) => onChange(id ?? '')}
        />
      )
    case 'monitors':
      return (
        <MemberSelect
          {...common}
          required={false}
          withAsterisk
          value={value as string[]}
          onChange={onChange}
          self={self}
        />
      )
    case 'long':
      return (
        <Textarea
          {...common}
          autosize
          minRows={2}
          classNames={{ input: 'mono' }}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'text':
      return (
        <TextInput
          {...common}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}

interface Common {
  label: string
  description?: string
  error?: string
  required?: boolean
  // Not natively required: before its choices are read it looks empty to the browser.
  withAsterisk?: boolean
  name: string
  inputWrapperOrder: InputWrapperProps['inputWrapperOrder']
}

function FileSelect({
  value,
  emptyText,
  ...rest
}: Common & {
  value: string
  emptyText: string
  clearable?: boolean
  onChange: (value: string | null) => void
}) {
  const { data = [] } = useQuery(fileNamesQuery)
  return (
    <Select
      {...rest}
      searchable
      nothingFoundMessage={emptyText}
      data={data.map((file) => ({ value: file.id, label: file.filename }))}
      value={value || null}
    />
  )
}

function MemberSelect({
  self,
  ...rest
}: Common & { value: string[]; onChange: (value: string[]) => void; self?: string }) {
  const { data = [] } = useQuery(monitorNamesQuery)
  return (
    <MultiSelect
      {...rest}
      searchable
      limit={MAX_CHOICES}
      data={data.filter((monitor) => monitor.id !== self).map(choiceOf)}
    />
  )
}
