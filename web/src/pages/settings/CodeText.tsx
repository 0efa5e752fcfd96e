import { Text } from '@mantine/core'
import { Fragment } from 'react'

/** A sentence of the server, in which `backticks` enclose commands. */
export function CodeText({ text, strong = false }: { text: string; strong?: boolean }) {
  const parts = text.split('`')
  return (
    <Text size="sm" fw={strong ? 600 : undefined}>
      {parts.map((part, index) =>
        index % 2 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
      )}
    </Text>
  )
}
