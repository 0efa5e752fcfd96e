import { expect, test } from 'vitest'
import { noticeLook } from '../noticeLook'

test.each([
  ['member.new_sign_in', 'HIGH', 'info'],
  ['token.created', 'HIGH', 'info'],
  ['member.second_factor_off', 'HIGH', 'warn'],
  ['member.recovery_asked', 'LOW', 'wait'],
  ['monitor.failure', 'HIGH', 'fail'],
  ['monitor.failure', 'LOW', 'warn'],
  ['monitor.recovered', 'HIGH', 'ok'],
  ['monitor.updates_started', 'HIGH', 'ok'],
  ['monitor.flapping', 'HIGH', 'warn'],
  ['indicator.stale', 'LOW', 'fail'],
  ['job.created', 'HIGH', 'wait'],
  ['job.created', 'LOW', 'info'],
  ['job.finished', 'HIGH', 'fail'],
  ['job.lost', 'HIGH', 'lost'],
  ['message.failed', 'HIGH', 'fail'],
  ['host.unreachable', 'LOW', 'warn'],
  ['host.reachable', 'LOW', 'ok'],
  ['task.changed', 'LOW', 'info'],
])('%s with severity %s looks like %s', (kind, severity, look) => {
  expect(noticeLook({ kind, severity })).toBe(look)
})
