import { memo } from 'react'
import type { HostLine } from '../../../api/queries/monitoring/host'
import { number } from '../../../lib/i18n'
import { AppLink } from '../../../ui/AppLink'
import { hostLook, hostStateText } from '../../../ui/hosts/hostState'
import { StateIcon } from '../../../ui/state/StateIcon'
import { HostCheckbox } from './HostCheckbox'
import type { Heat } from './hostsSearch'

interface Props {
  hosts: HostLine[]
  /** None: the state. */
  heat: Heat | undefined
  chosen: ReadonlySet<string>
  onToggle?: (hostname: string) => void
}

/** All hosts on one screen: a cell for each, coloured by its state or by a figure. */
export function HostGrid({ hosts, heat, chosen, onToggle }: Props) {
  return (
    <div className="host-grid" role="list">
      {hosts.map((host) => (
        <HostCell
          key={host.id}
          host={host}
          heat={heat}
          isChosen={chosen.has(host.hostname)}
          onToggle={onToggle}
        />
      ))}
    </div>
  )
}

interface CellProps {
  host: HostLine
  heat: Heat | undefined
  isChosen: boolean
  onToggle?: (hostname: string) => void
}

const HostCell = memo(function HostCell({ host, heat, isChosen, onToggle }: CellProps) {
  const word = hostStateText(host)
  const value = heat ? host[heat] : null
  const isUp = host.state === 'online' || host.state === 'draining'
  const figure = value === null ? '—' : `${number(value)} %`
  return (
    <div
      role="listitem"
      className="host-cell"
      data-look={heat && isUp ? undefined : hostLook(host)}
      data-level={heat && isUp ? levelOf(value) : undefined}
      style={{ '--heat': value ?? 0 } as React.CSSProperties}
      title={[host.hostname, word, heat ? figure : ''].filter(Boolean).join(' · ')}
    >
      <HostCheckbox hostname={host.hostname} isChosen={isChosen} onToggle={onToggle} />
      <AppLink to={`/hosts/${host.id}`} className="host-link clip">
        {host.hostname}
      </AppLink>
      <span className="host-cell-value num clip">
        {heat && isUp ? (
          figure
        ) : (
          <>
            <StateIcon look={hostLook(host)} size={12} /> {word}
          </>
        )}
      </span>
    </div>
  )
})

/** The same limits as the bars of the list. */
function levelOf(value: number | null): string {
  if (value === null) return 'none'
  if (value < 80) return 'low'
  return value < 90 ? 'high' : 'full'
}
