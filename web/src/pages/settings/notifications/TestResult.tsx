import { Alert, Text } from '@mantine/core'
import type { Shape } from '../../../api/client'
import { useText } from './text'

/** The result of a test message, and what to change if it failed. */
export function TestResult({ name, message }: { name: string; message: Shape<'MessageRecord'> }) {
  const t = useText()
  const attempt = message.tries.at(-1)
  const isSent = message.state === 'sent'
  return (
    <Alert
      color={isSent ? 'teal' : 'red'}
      role={isSent ? 'status' : 'alert'}
      style={{ gridColumn: '1 / -1' }}
    >
      <Text size="sm" fw={600}>
        {isSent ? t.testSent(name) : t.testFailed(name)}
      </Text>
      {isSent ? null : (
        <Text size="sm">
          {attempt?.fault} {attempt?.hint}
        </Text>
      )}
    </Alert>
  )
}
