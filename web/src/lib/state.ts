import { catalogue } from './i18n'

/** Appearance of each state: colour, shape and word, defined only here. */
export type Look = 'ok' | 'fail' | 'warn' | 'run' | 'queue' | 'wait' | 'stop' | 'lost' | 'cancel'

interface JobLike {
  lifecycle: string
  state: string
  unreachable_since?: string | null
  waiting_reason?: string | null
}

const useJobWords = catalogue(
  {
    ready: 'Queued',
    assigned: 'Running',
    locked: 'Running',
    started: 'Running',
    syncing: 'Syncing',
    onhold: 'Waiting for a person',
    normal: 'Succeeded',
    success: 'Succeeded',
    failure: 'Failed',
    error: 'Failed',
    timeout: 'Timed out',
    canceled: 'Canceled',
    expired: 'Expired',
    lost: 'Lost: may have run',
    unreachable: 'Host not responding',
    rejected: 'Rejected',
    terminated: 'Terminated',
    finished: 'Finished',
  } as Record<string, string>,
  {
    ready: 'En cola',
    assigned: 'En marcha',
    locked: 'En marcha',
    started: 'En marcha',
    syncing: 'Sincronizando',
    onhold: 'Espera a una persona',
    normal: 'Correcto',
    success: 'Correcto',
    failure: 'Falló',
    error: 'Falló',
    timeout: 'Tiempo agotado',
    canceled: 'Cancelado',
    expired: 'Caducado',
    lost: 'Perdido: quizá se ejecutó',
    unreachable: 'El equipo no responde',
    rejected: 'Rechazado',
    terminated: 'Terminado',
    finished: 'Terminado',
  },
)

const BY_LIFECYCLE: Record<string, Look> = {
  ready: 'queue',
  assigned: 'run',
  locked: 'run',
  started: 'run',
  syncing: 'run',
  onhold: 'wait',
  canceled: 'cancel',
  expired: 'cancel',
}
const BY_STATE: Record<string, Look> = {
  success: 'ok',
  normal: 'ok',
  failure: 'fail',
  error: 'fail',
  timeout: 'fail',
  rejected: 'fail',
  canceled: 'cancel',
  lost: 'lost',
  unknown: 'lost',
}

export function isOver(job: Pick<JobLike, 'lifecycle'>): boolean {
  return !['ready', 'assigned', 'locked', 'started', 'syncing', 'onhold'].includes(job.lifecycle)
}

export function jobLook(job: JobLike): Look {
  if (job.state === 'lost') return 'lost'
  if (job.unreachable_since && !isOver(job)) return 'lost'
  return BY_LIFECYCLE[job.lifecycle] ?? BY_STATE[job.state] ?? 'ok'
}

export function jobStateText(job: JobLike): string {
  const words = useJobWords.now()
  if (job.state === 'lost') return words.lost!
  if (job.unreachable_since && !isOver(job)) return words.unreachable!
  const over = ['finished', 'completed', 'terminated'].includes(job.lifecycle)
  return words[over ? job.state : job.lifecycle] ?? words[job.state] ?? job.state
}

const useMonitorWords = catalogue(
  {
    normal: 'Normal',
    failure: 'Failing',
    down: 'Down',
    low: 'Warning',
    updates_stopped: 'Not reporting',
    unknown: 'Unknown',
    hostDown: 'Not checked: host offline',
    paused: 'Paused',
    stale: 'Silent',
  } as Record<string, string>,
  {
    normal: 'Normal',
    failure: 'Fallando',
    down: 'Caído',
    low: 'Aviso',
    updates_stopped: 'Sin informes',
    unknown: 'Desconocido',
    hostDown: 'Sin comprobar: equipo desconectado',
    paused: 'En pausa',
    stale: 'En silencio',
  },
)

/** Kinds that check a service: when it fails, the service is down. */
export const SERVICE_KINDS = new Set(['scraper', 'tcp', 'ping', 'dns', 'tls'])

interface MonitorLike {
  state: string
  type?: string
  failure_severity?: string
  severity?: string
  enable?: boolean
  paused_until?: string | null
  stale?: boolean
  is_host_down?: boolean
}

export function monitorLook(monitor: MonitorLike): Look {
  if (monitor.enable === false || monitor.paused_until) return 'stop'
  if (monitor.state === 'failure')
    return (monitor.failure_severity ?? monitor.severity) === 'LOW' ||
      (monitor.failure_severity ?? monitor.severity) === 'low'
      ? 'warn'
      : 'fail'
  if (monitor.state === 'updates_stopped') return 'fail'
  // Without a connected agent nothing is checked: that is a problem, unlike a new monitor.
  if (monitor.state === 'unknown') return monitor.is_host_down ? 'lost' : 'queue'
  return monitor.stale ? 'stop' : 'ok'
}

export function monitorStateText(monitor: MonitorLike): string {
  const words = useMonitorWords.now()
  if (monitor.enable === false || monitor.paused_until) return words.paused!
  if (monitorLook(monitor) === 'warn') return words.low!
  if (monitorLook(monitor) === 'lost') return words.hostDown!
  if (monitor.state === 'failure' && SERVICE_KINDS.has(monitor.type ?? '')) return words.down!
  return (monitor.stale ? words.stale : words[monitor.state]) ?? monitor.state
}

/** Worst first. */
export const WORST_FIRST: Look[] = [
  'fail',
  'lost',
  'warn',
  'stop',
  'wait',
  'run',
  'queue',
  'cancel',
  'ok',
]

export function byWorst(a: Look, b: Look): number {
  return WORST_FIRST.indexOf(a) - WORST_FIRST.indexOf(b)
}
