import type { Look } from '../../lib/state'
import { useMonitoringText } from '../monitoring/text'

interface HostLike {
  state: string
  enable: boolean
  draining: boolean
}

function condition(host: HostLike): string {
  if (!host.enable) return 'disabled'
  return host.draining && host.state === 'online' ? 'draining' : host.state
}

const LOOKS: Record<string, Look> = {
  online: 'ok',
  draining: 'warn',
  offline: 'fail',
  unreachable: 'fail',
  disabled: 'cancel',
}

export function hostLook(host: HostLike): Look {
  return LOOKS[condition(host)] ?? 'fail'
}

export function hostStateText(host: HostLike): string {
  const word = condition(host)
  return useMonitoringText.now().hostStates[word] ?? word
}
