import { type InputWrapperProps, Textarea } from '@mantine/core'
import { useEffect, useState } from 'react'

interface Props {
  label: string
  description?: string
  error?: string
  name: string
  inputWrapperOrder?: InputWrapperProps['inputWrapperOrder']
  value: unknown
  onChange: (headers: Record<string, string>) => void
}

export function headersOf(text: string): Record<string, string> {
  const pairs = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line): [string, string] => {
      const colon = line.indexOf(':')
      return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    })
  return Object.fromEntries(pairs)
}

export function headerText(headers: unknown): string {
  return Object.entries((headers || {}) as Record<string, string>)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

/** Headers with one per line. The entered text stays unchanged while it is edited. */
export function HeadersInput({ value, onChange, ...rest }: Props) {
  const [text, setText] = useState(() => headerText(value))
  useEffect(() => {
    // Someone else's version arrived: show it, unless it means the same.
    setText((now) => (headerText(headersOf(now)) === headerText(value) ? now : headerText(value)))
  }, [value])
  return (
    <Textarea
      {...rest}
      autosize
      minRows={2}
      classNames={{ input: 'mono' }}
      placeholder="Accept: application/json"
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        onChange(headersOf(event.currentTarget.value))
      }}
    />
  )
}
