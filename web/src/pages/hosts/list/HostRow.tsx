import { Badge, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { memo } from 'react'
import type { HostLine } from '../../../api/queries/monitoring/host'
import { useCan } from '../../../app/session'
import { AppLink } from '../../../ui/AppLink'
import { hostLook, hostStateText } from '../../../ui/hosts/hostState'
import { UsageBars } from '../../../ui/hosts/UsageBars'
import { StateIcon } from '../../../ui/state/StateIcon'
import { Ago } from '../../../ui/state/Time'
import { HostMenu } from '../detail/HostMenu'
import { useText } from '../text'
import { HostCheckbox } from './HostCheckbox'

interface Props {
  host: HostLine
  isActive: boolean
  isChosen: boolean
  onToggle?: (hostname: string) => void
}

export const HostRow = memo(function HostRow({ host, isActive, isChosen, onToggle }: Props) {
  const t = useText()
  const may = useCan()('host.edit')
  const word = hostStateText(host)
  return (
    <div
      className="row host-row"
      data-active={isActive}
      data-host={host.hostname}
      data-pick={!!onToggle}
    >
      <HostCheckbox hostname={host.hostname} isChosen={isChosen} onToggle={onToggle} />
      <StateIcon look={hostLook(host)} title={word} />
      <div className="clip">
        <AppLink to={`/hosts/${host.id}`} className="host-link">
          {host.hostname}
        </AppLink>
        {host.tags.map((tag) => (
          <Badge key={tag} size="xs" ml={6}>
            {tag}
          </Badge>
        ))}
        <Text size="xs" c="dimmed" className="clip">
          {[word, host.ip, [host.os_name, host.os_version].filter(Boolean).join(' ')]
            .filter(Boolean)
            .join(' · ')}
        </Text>
        {host.warnings.map(({ code, jobs }, i) => (
          <Text key={code} size="xs" className="host-warning" component="div">
            <TriangleAlert size={12} /> {t.warnings[code]?.(jobs)}.
            {i === host.warnings.length - 1 ? ` ${t.warningOpen}` : null}
          </Text>
        ))}
      </div>
      <Text size="xs" c="dimmed" component="div" className="host-agent clip">
        {host.agent_version ? `${t.agent} ${host.agent_version}` : null}
        <div>
          {host.last_seen ? (
            <>
              {t.lastSeen} <Ago at={host.last_seen} />
            </>
          ) : (
            t.neverConnected
          )}
        </div>
      </Text>
      <div className="host-figures">
        <UsageBars cpu={host.cpu} mem={host.mem} disk={host.disk} />
      </div>
      <div className="host-marks">
        {host.failing ? (
          <Badge size="sm" className="badge-fail">
            {t.failing(host.failing)}
          </Badge>
        ) : null}
        {host.running ? (
          <Badge size="sm" className="badge-run">
            {t.running(host.running)}
          </Badge>
        ) : null}
      </div>
      <div className="host-menu">{may ? <HostMenu host={host} /> : null}</div>
    </div>
  )
})
