import { MultiSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../../api/queries/notifications'
import { useHasLevel } from '../../app/session'
import { catalogue } from '../../lib/i18n'
import { NotifiedBy } from './NotifiedBy'
import type { Failure } from './notifiedBy'
import type { OwnChannels } from './ownRule'

const useText = catalogue(
  {
    also: 'Also notify',
    alsoHint: 'Channels that also get these alerts, in addition to those of the rules.',
  },
  {
    also: 'Avisar también a',
    alsoHint: 'Canales que también reciben estas alertas, además de los de las reglas.',
  },
)

interface Props {
  failure: Failure
  own: OwnChannels
  readOnly?: boolean
}

/** Who is notified of a failure, and which channels are notified in addition. */
export function NotifyChoice({ failure, own, readOnly }: Props) {
  const t = useText()
  const isAdmin = useHasLevel('admin')
  const { data: channels = [] } = useQuery({ ...channelsQuery, enabled: isAdmin })
  return (
    <>
      <NotifiedBy failure={failure} own={own} />
      {channels.length ? (
        <MultiSelect
          searchable
          label={t.also}
          description={t.alsoHint}
          readOnly={readOnly}
          data={channels.map(({ id, name }) => ({ value: id, label: name }))}
          value={own.ids}
          onChange={own.set}
        />
      ) : null}
    </>
  )
}
