import { notifications } from '@mantine/notifications'
import { ApiError } from '../api/errors'

export function showSuccess(message: string): void {
  notifications.show({ message, color: 'teal', autoClose: 3000 })
}

/** The server's error message, with those of its fields. */
export function showError(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const faults =
    error instanceof ApiError ? error.faults.map((fault) => `${fault.field}: ${fault.message}`) : []
  notifications.show({
    message: [message, ...faults].join('\n'),
    color: 'red',
    autoClose: 8000,
    style: { whiteSpace: 'pre-line' },
  })
}
