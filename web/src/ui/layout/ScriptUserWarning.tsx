import { useQuery } from '@tanstack/react-query'
import { aboutQuery } from '../../api/queries/about'
import { useCan } from '../../app/session'
import { useWords } from '../text'
import { Warning } from './Warning'

/** For admins, whose scripts can read everything where they run as the server's own user. */
export function ScriptUserWarning() {
  return useCan()('host.edit') ? <WarningIfEnabled /> : null
}

function WarningIfEnabled() {
  const w = useWords()
  const { data } = useQuery({ ...aboutQuery, staleTime: Number.POSITIVE_INFINITY })
  if (!data?.scripts_as_server) return null
  return <Warning title={w.scriptsAsServer}>{w.scriptsAsServerBody}</Warning>
}
