import { Textarea } from '@mantine/core'
import { useEffect, useState } from 'react'
import { type Pairs, pairsText, parsePairs } from './pairs'

interface Props {
  label: string
  hint: string
  /** The error for a line that cannot be parsed. */
  bad: string
  sign: '=' | ':'
  value: Pairs
  error?: string
  readOnly: boolean
  onChange: (value: Pairs) => void
}

/** Names and values, one pair per line. */
export function PairsField({ label, hint, bad, sign, value, error, readOnly, onChange }: Props) {
  const [text, setText] = useState(() => pairsText(value, sign))
  const pairs = parsePairs(text, sign)
  useEffect(() => {
    // Someone else's version arrived: show it, unless it means the same, or a line is
    // only half written.
    setText((now) => {
      const here = parsePairs(now, sign)
      return !here || JSON.stringify(here) === JSON.stringify(value) ? now : pairsText(value, sign)
    })
  }, [value, sign])
  const type = (next: string) => {
    setText(next)
    const pairs = parsePairs(next, sign)
    if (pairs) onChange(pairs)
  }
  return (
    <Textarea
      label={label}
      description={hint}
      autosize
      minRows={2}
      maxRows={10}
      classNames={{ input: 'mono' }}
      readOnly={readOnly}
      value={text}
      error={pairs ? error : bad}
      onChange={(event) => type(event.currentTarget.value)}
    />
  )
}
