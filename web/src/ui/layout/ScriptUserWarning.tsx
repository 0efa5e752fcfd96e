import { useQuery } from '@tanstack/react-query'
import { aboutQuery } from '../../api/queries/about'
import { useCan } from '../../app/session'
import { useWords } from '../text'
import { Caution } from './Warning'

/** For admins, whose scripts can read everything where they run as the server's own user. */
export function ScriptsAsServer() {
  return useCan()('host.edit') ? <Warning /> : null
}

function Warning() {
  const w = useWords()
  const { data } = useQuery({ ...aboutQuery, staleTime: Number.POSITIVE_INFINITY })
  if (!data?.scripts_as_server) return null
  return <Caution title={w.scriptsAsServer}>{w.scriptsAsServerBody}</Caution>
}
