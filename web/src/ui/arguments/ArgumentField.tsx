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
import { SecretArea } from '../form/SecretArea'
import { DateField } from './DateField'
import { FileField } from './FileField'
import { type FieldProps, useFieldProps } from './fieldProps'
import { KINDS, type KindRow } from './kinds'
import { RemoteField } from './RemoteField'
import { useText } from './text'

/** The input for one argument, by its kind. */
export function ArgumentField(props: FieldProps) {
  const { type, masked } = props.definition
  const { input, isMultiline, isMaskable } = KINDS[type]
  if (masked && isMultiline) return <HiddenArea {...props} />
  if (masked && isMaskable) return <HiddenField {...props} />
  const Field = FIELDS[input]
  return <Field {...props} />
}

const asText = (value: unknown) => (value == null ? '' : String(value))

function LineField(props: FieldProps) {
  const { definition: argument, value, onChange } = props
  return (
    <TextInput
      {...useFieldProps(props)}
      type={KINDS[argument.type].htmlType ?? 'text'}
      value={asText(value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function HiddenField(props: FieldProps) {
  return (
    <PasswordInput
      {...useFieldProps(props)}
      autoComplete="new-password"
      value={asText(props.value)}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

function HiddenArea(props: FieldProps) {
  return (
    <SecretArea
      {...useFieldProps(props)}
      value={asText(props.value)}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

function AreaField(props: FieldProps) {
  return (
    <Textarea
      {...useFieldProps(props)}
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
      {...useFieldProps(props)}
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
  const { withAsterisk, readOnly, ...common } = useFieldProps(props)
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
  const { definition: argument, value, onChange } = props
  const common = useFieldProps(props)
  const data = [...argument.options]
    .sort((a, b) => a.order - b.order)
    .map((option) => ({ value: String(option.id), label: option.label || String(option.id) }))
  const more = { ...common, data, searchable: data.length > 8, clearable: !argument.required }
  if (argument.multiple)
    return <MultiSelect {...more} value={(value as string[]) ?? []} onChange={onChange} />
  return (
    <Select
      {...more}
      allowDeselect={!argument.required}
      value={asText(value) || null}
      onChange={(next) => onChange(next ?? '')}
    />
  )
}

function FixedField(props: FieldProps) {
  const t = useText()
  const { value } = props.definition
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '')
  return (
    <TextInput {...useFieldProps(props)} description={t.fixed} value={text} disabled readOnly />
  )
}

const FIELDS: Record<KindRow['input'], ComponentType<FieldProps>> = {
  line: LineField,
  area: AreaField,
  json: JsonField,
  switch: BooleanField,
  choice: SelectField,
  remote: RemoteField,
  date: DateField,
  file: FileField,
  fixed: FixedField,
}
