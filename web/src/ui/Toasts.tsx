import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

/** Where `done` and `failed` are shown. */
export default function Toasts() {
  return <Notifications position="bottom-right" />
}
