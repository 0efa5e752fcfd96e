import {
  JsonInput,
  MultiSelect,
  PasswordInput,
  Select,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { ComponentType } from 'react'
import { DateField } from './DateField'
import { FileField } from './FileField'
import { type FieldProps, useCommon } from './fieldProps'
import { RemoteField } from './RemoteField'
import { useText } from './text'
import type { Argument } from './values'

/** The input for one argument, by its kind. */
export function ArgumentField(props: FieldProps) {
  const { definition: one } = props
  if (one.masked && HIDEABLE.includes(one.type)) return <HiddenField {...props} />
  const Field = FIELDS[one.type]
  return <Field {...props} />
}

const asText = (value: unknown) => (value == null ? '' : String(value))

function LineField(props: FieldProps) {
  const { definition: one, value, onChange } = props
  return (
    <TextInput
      {...useCommon(props)}
      type={one.type === 'email' ? 'email' : 'text'}
      value={asText(value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function HiddenField(props: FieldProps) {
  return (
    <PasswordInput
      {...useCommon(props)}
      autoComplete="new-password"
      value={asText(props.value)}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

function AreaField(props: FieldProps) {
  return (
    <Textarea
      {...useCommon(props)}
      autosize
      minRows={3}
      maxRows={12}
      value={asText(props.value)}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

function JsonField(props: FieldProps) {
  return (
    <JsonInput
      {...useCommon(props)}
      autosize
      minRows={3}
      maxRows={12}
      formatOnBlur
      classNames={{ input: 'mono' }}
      value={asText(props.value)}
      onChange={props.onChange}
    />
  )
}

function BooleanField(props: FieldProps) {
  const { withAsterisk, readOnly, ...common } = useCommon(props)
  return (
    <Switch
      {...common}
      disabled={readOnly}
      checked={props.value === true || props.value === 'true'}
      onChange={(event) => props.onChange(event.currentTarget.checked)}
    />
  )
}

function SelectField(props: FieldProps) {
  const { definition: one, value, onChange } = props
  const common = useCommon(props)
  const data = [...one.options]
    .sort((a, b) => a.order - b.order)
    .map((option) => ({ value: String(option.id), label: option.label || String(option.id) }))
  const more = { ...common, data, searchable: data.length > 8, clearable: !one.required }
  if (one.multiple)
    return <MultiSelect {...more} value={(value as string[]) ?? []} onChange={onChange} />
  return (
    <Select
      {...more}
      allowDeselect={!one.required}
      value={asText(value) || null}
      onChange={(next) => onChange(next ?? '')}
    />
  )
}

function FixedField(props: FieldProps) {
  const t = useText()
  const { value } = props.definition
  const shown = typeof value === 'string' ? value : JSON.stringify(value ?? '')
  return <TextInput {...useCommon(props)} description={t.fixed} value={shown} disabled readOnly />
}

const HIDEABLE = ['input', 'textarea', 'email', 'regexp', 'json', 'remote-options']
const FIELDS: Record<Argument['type'], ComponentType<FieldProps>> = {
  input: LineField,
  email: LineField,
  regexp: LineField,
  textarea: AreaField,
  json: JsonField,
  boolean: BooleanField,
  select: SelectField,
  'remote-options': RemoteField,
  date: DateField,
  file: FileField,
  fixed: FixedField,
}
