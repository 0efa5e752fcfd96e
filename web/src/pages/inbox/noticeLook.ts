import type { Notice } from '../../api/queries/inbox'
import type { Look } from '../../lib/state'

/** `info`: something happened that is not a state of anything. */
export type NoticeLook = Look | 'info'

const BY_KIND: Record<string, NoticeLook> = {
  'member.new_sign_in': 'info',
  'member.password_changed': 'info',
  'member.second_factor_on': 'info',
  'member.second_factor_off': 'warn',
  'member.recovery_codes_renewed': 'info',
  'member.recovery_asked': 'wait',
  'token.created': 'info',
  'monitor.updates_started': 'ok',
  'monitor.updates_stopped': 'fail',
  'monitor.flapping': 'warn',
  'indicator.stale': 'fail',
  'job.voided': 'wait',
  'job.lost': 'lost',
  'job.unreachable': 'lost',
  'job.expired': 'fail',
  'host.disk_free': 'ok',
}

/** The icon of an alert: how bad it is, or that it is only for information. */
export function noticeLook({ kind, severity }: Pick<Notice, 'kind' | 'severity'>): NoticeLook {
  const look = BY_KIND[kind]
  if (look) return look
  if (/\.(recovered|reachable|restored|connected|normal|fresh|spoke)$/.test(kind)) return 'ok'
  if (/^job\.(created|onhold|held|.*(approval|input|waits))/.test(kind))
    // A job that asks has a high severity; one that only sends a message has not.
    return severity === 'LOW' ? 'info' : 'wait'
  if (/\.(stopped|silent|stale)$/.test(kind)) return 'fail'
  // Changes of definitions and members that a rule may select.
  if (/\.(created|changed|deleted|added|removed|accepted|invited|revoked)$/.test(kind))
    return 'info'
  return severity === 'LOW' ? 'warn' : 'fail'
}
