import { Anchor, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { currentCustomer, UI } from '../../api/client'
import { dateTime } from '../../lib/format'
import { catalogue } from '../../lib/i18n'
import { useWords } from '../../ui/text'
import { profileQuery, useProfile } from '../session'

const useText = catalogue(
  {
    ends: (time: string) => `Your session ends at ${time}`,
    again: 'Sign in again in another tab',
    notLost: 'Your work on this page is kept.',
  },
  {
    ends: (time: string) => `Tu sesión termina a las ${time}`,
    again: 'Entrar de nuevo en otra pestaña',
    notLost: 'Tu trabajo en esta página se conserva.',
  },
)

const NOTICE = 'session-ends'

/**
 * Shows when the session ends. Using a session does not extend it, so this offers the sign-in in
 * another tab: unsaved input is not lost, and is sent with the new session.
 */
export function SessionEnding() {
  const t = useText()
  const w = useWords()
  const { expires } = useProfile()
  useNewSession()
  useEffect(() => {
    notifications.show({
      id: NOTICE,
      title: t.ends(dateTime(expires!, { hour: '2-digit', minute: '2-digit' })),
      message: (
        // The notice's own grey is too pale to be read.
        <Text span size="sm" c="var(--mantine-color-text)">
          <Anchor
            inherit
            href={`${UI}login?to=/${encodeURIComponent(currentCustomer())}`}
            target="_blank"
          >
            {t.again}
          </Anchor>
          {'. '}
          {t.notLost}
        </Text>
      ),
      color: 'orange',
      autoClose: false,
      closeButtonProps: { 'aria-label': w.close },
    })
    return () => void notifications.hide(NOTICE)
  }, [expires, t, w])
  return null
}

/** A person who returns from the other tab may have signed in there. */
function useNewSession(): void {
  const client = useQueryClient()
  useEffect(() => {
    const look = () => void client.invalidateQueries({ queryKey: profileQuery.queryKey })
    window.addEventListener('focus', look)
    return () => window.removeEventListener('focus', look)
  }, [client])
}
