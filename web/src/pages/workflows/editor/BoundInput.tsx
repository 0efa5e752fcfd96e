import { NumberInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useText } from '../text'

interface Props {
  value: number | null
  onChange: (most: number | null) => void
  size?: 'xs'
}

/** How often a connection may be followed in one run. */
export function VisitLimitInput({ value, onChange, size }: Props) {
  const t = useText()
  // While a person types the field may be empty; the value is applied when the field is left.
  const [text, setText] = useState<number | string>(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  return (
    <NumberInput
      size={size}
      label={t.most}
      description={t.mostHelp}
      min={1}
      max={100}
      allowDecimal={false}
      clampBehavior="strict"
      value={text}
      onChange={(most) => {
        setText(most)
        if (Number(most) >= 1) onChange(Number(most))
      }}
      onBlur={() => {
        if (text !== '') return
        onChange(null)
        setText(value ?? '')
      }}
    />
  )
}
