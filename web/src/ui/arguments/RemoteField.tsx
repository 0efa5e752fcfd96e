import { MultiSelect, Select, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FieldProps, useFieldProps } from './fieldProps'
import { useText } from './text'
import type { Argument } from './values'

/**
 * Choices that another address offers. The page may only call its own server; if the choices come
 * from elsewhere, it does not know them and accepts any value.
 */
export function RemoteField(props: FieldProps) {
  const t = useText()
  const { definition: argument, value, onChange } = props
  const common = useFieldProps(props)
  const isOurs = isSameOrigin(argument.endpoint_url)
  const { data, isError } = useQuery({
    queryKey: ['choices', argument.endpoint_url, argument.id_attribute, argument.text_attribute],
    queryFn: () => fetchChoices(argument),
    enabled: isOurs,
    retry: false,
  })
  const choices = data ?? []
  if (!isOurs || isError) {
    const why = isOurs
      ? t.noChoices(argument.endpoint_url)
      : t.foreignChoices(argument.endpoint_url)
    const typed = { ...common, description: [common.description, why].filter(Boolean).join(' ') }
    if (argument.multiple)
      return <TagsInput {...typed} value={(value as string[]) ?? []} onChange={onChange} />
    return (
      <TextInput
        {...typed}
        value={String(value ?? '')}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  const more = {
    ...common,
    data: choices,
    searchable: true,
    placeholder: data ? '' : t.loadingChoices,
  }
  if (argument.multiple)
    return <MultiSelect {...more} value={(value as string[]) ?? []} onChange={onChange} />
  return (
    <Select
      {...more}
      value={String(value ?? '') || null}
      onChange={(next) => onChange(next ?? '')}
    />
  )
}

function isSameOrigin(url: string): boolean {
  try {
    return new URL(url, document.baseURI).origin === location.origin
  } catch {
    return false
  }
}

async function fetchChoices(argument: Argument): Promise<{ value: string; label: string }[]> {
  const answer = await fetch(new URL(argument.endpoint_url, document.baseURI))
  if (!answer.ok) throw new Error(String(answer.status))
  return choicesIn(await answer.json(), argument)
}

/** Objects by their two attributes, plain values as they are; each value once. */
export function choicesIn(
  body: unknown,
  argument: Pick<Argument, 'id_attribute' | 'text_attribute'>,
): { value: string; label: string }[] {
  const rows = Array.isArray(body) ? body : []
  const choices = new Map<string, string>()
  for (const row of rows) {
    const isRecord = typeof row === 'object' && row !== null
    const id = isRecord ? (row as Record<string, unknown>)[argument.id_attribute || 'id'] : row
    const text = isRecord
      ? (row as Record<string, unknown>)[argument.text_attribute || 'name']
      : row
    if (id != null && !choices.has(String(id))) choices.set(String(id), String(text ?? id))
  }
  return [...choices].map(([value, label]) => ({ value, label }))
}
