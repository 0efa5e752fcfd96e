import { describe, expect, it } from 'vitest'
import { monitorLook, monitorStateText } from '../state'

describe('looks of monitors', () => {
  it('shows what is not checked as a problem', () => {
    const unknown = { state: 'unknown', type: 'scraper' }
    expect(monitorLook({ ...unknown, is_host_down: true })).toBe('lost')
    expect(monitorStateText({ ...unknown, is_host_down: true })).toBe('Not checked: host offline')
    expect(monitorLook(unknown)).toBe('queue')
    expect(monitorLook({ state: 'updates_stopped' })).toBe('fail')
    expect(monitorLook({ ...unknown, is_host_down: true, enable: false })).toBe('stop')
  })

  it('shows a service that fails as down, in red unless its severity is low', () => {
    const down = { state: 'failure', type: 'tcp', failure_severity: 'HIGH' }
    expect([monitorLook(down), monitorStateText(down)]).toEqual(['fail', 'Down'])
    expect(monitorLook({ ...down, failure_severity: 'LOW' })).toBe('warn')
    expect(monitorStateText({ ...down, type: 'file' })).toBe('Failing')
  })
})
