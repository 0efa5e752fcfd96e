import { describe, expect, it } from 'vitest'
import type { Shape } from '../../src/api/client'
import type { IndicatorLine } from '../../src/api/queries/monitoring/indicator'
import { monitorLook, monitorStateText } from '../../src/lib/state'
import { splitCommand } from '../../src/pages/hosts/detail/splitCommand'
import {
  bodyOf as indicatorBody,
  NEW_VALUES,
  ofKind,
} from '../../src/pages/indicators/form/indicatorDraft'
import { spansOf } from '../../src/pages/monitors/detail/stateLog'
import { headersOf, headerText } from '../../src/pages/monitors/form/HeadersInput'
import { bodyOf, newValues, valuesOf } from '../../src/pages/monitors/form/kinds'
import { cellsOf, metricsOf, seriesOf } from '../../src/ui/chart/series'
import { bySeverity, checkLooks, displayValue, uptime } from '../../src/ui/monitoring/display'

type Point = Shape<'HistoryPoint'>
const MINUTE = 60_000

function point(minute: number, up: number, ms?: number, message = ''): Point {
  const values = ms === undefined ? {} : { ms: { avg: ms, min: ms, max: ms } }
  return {
    at: new Date(minute * MINUTE).toISOString(),
    checks: 2,
    up,
    values: values as Point['values'],
    message,
  }
}

describe('series of a chart', () => {
  it('breaks the line where checks are missing', () => {
    const points = [0, 1, 2, 10].map((minute) => point(minute, 1, minute))
    const { times, lines } = seriesOf(points, MINUTE, ['ms'])
    expect(lines[0]!.values).toEqual([0, 1, 2, null, 10])
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('names the main metrics first', () => {
    const points = [{ ...point(0, 1), values: { 'disk /': {}, mem: {}, cpu: {} } }]
    expect(metricsOf(points as unknown as Point[])).toEqual(['cpu', 'mem', 'disk /'])
  })

  it('tells good, mixed, failed and unknown cells apart', () => {
    const points = [point(0, 1), point(1, 0.5), point(2, 0)]
    const looks = cellsOf(points, 0, 4 * MINUTE, 4).map((cell) => cell.look)
    expect(looks).toEqual(['ok', 'warn', 'fail', 'stop'])
  })

  it('makes spans of turns, and the newest one lasts', () => {
    const turn = (at: string, state: string) => ({ at, state, from: 'unknown', message: '' })
    const spans = spansOf([turn('3', 'normal'), turn('2', 'failure'), turn('1', 'normal')])
    expect(spans.map((span) => [span.state, span.at, span.until])).toEqual([
      ['normal', '3', null],
      ['failure', '2', '3'],
      ['normal', '1', '2'],
    ])
  })
})

describe('rows', () => {
  it('reads the letters of a strip', () => {
    expect(checkLooks('nfm-')).toEqual(['ok', 'fail', 'warn', 'stop'])
  })

  it('never rounds a failure away', () => {
    expect(uptime(99.999)).toBe('99.99 %')
    expect(uptime(100)).toBe('100 %')
    expect(uptime(null)).toBe('—')
  })

  it('shows no old value of a monitor that is silent', () => {
    const line = { value: 3, unit: 'ms', metric: 'ms', state: 'updates_stopped' }
    expect(displayValue(line)).toBeNull()
    expect(displayValue({ ...line, state: 'normal' })).toEqual({ text: '3', unit: 'ms' })
  })

  it('puts sticky tiles first, then the worst, then by title', () => {
    const tile = (title: string, more: Partial<IndicatorLine>) =>
      ({
        title,
        state: 'normal',
        severity: 'HIGH',
        sticky: false,
        order: 0,
        ...more,
      }) as IndicatorLine
    const tiles = [
      tile('b', {}),
      tile('a', {}),
      tile('low', { state: 'failure', severity: 'LOW' }),
      tile('high', { state: 'failure' }),
      tile('sticky', { sticky: true }),
    ]
    expect(tiles.toSorted(bySeverity).map(({ title }) => title)).toEqual([
      'sticky',
      'high',
      'low',
      'a',
      'b',
    ])
  })
})

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

  it('creates services with the severity that the server uses by default', () => {
    for (const kind of ['scraper', 'tcp', 'ping', 'dns', 'tls'])
      expect(newValues(kind).failure_severity, kind).toBe('HIGH')
    expect(newValues('file').failure_severity).toBe('LOW')
  })
})

describe('forms of monitors', () => {
  it('sends only what the kind has', () => {
    const body = bodyOf('ping', { ...newValues('ping'), name: 'p', target: 'a.example' })
    expect(body).toMatchObject({ name: 'p', target: 'a.example', looptime: 60_000 })
    expect(body).not.toHaveProperty('url')
    expect(bodyOf('scraper', newValues('scraper')).headers).toEqual({})
    expect(bodyOf('push', newValues('push'))).not.toHaveProperty('host_id')
  })

  it('clears what is emptied and leaves out numbers that nobody gave', () => {
    const process = bodyOf('process', { ...newValues('process'), most: '', least: '' })
    expect(process.most).toBeNull()
    expect(process).not.toHaveProperty('least')
  })

  it('reads the limits of a host back into the form', () => {
    const record = {
      type: 'dstat',
      name: 'Load',
      description: '',
      tags: [],
      host_id: 'h',
      maintenance: [],
      looptime: 5000,
      fail_threshold: 2,
      failure_severity: 'HIGH',
      config: { limit: { cpu: 50, mem: 60, cache: 70, disk: 80 }, timeout: 1000 },
    } as unknown as Parameters<typeof valuesOf>[0]
    expect(bodyOf('dstat', valuesOf(record))).toMatchObject({ cpu: 50, disk: 80, timeout: 1000 })
  })

  it('takes headers line by line, with colons in values', () => {
    const headers = headersOf('Accept: text/html\n\n X-Url : http://a:1 ')
    expect(headers).toEqual({ Accept: 'text/html', 'X-Url': 'http://a:1' })
    expect(headersOf(headerText(headers))).toEqual(headers)
  })
})

describe('forms of indicators', () => {
  it('does not send a value that nobody touched', () => {
    const before = { ...ofKind(NEW_VALUES, 'counter'), title: 't', value: 5 }
    expect(indicatorBody({ ...before, title: 'u' }, before)).not.toHaveProperty('value')
    expect(indicatorBody({ ...before, value: 6 }, before)).toMatchObject({ value: 6 })
    expect(indicatorBody({ ...before, ttl: 2 }, before).ttl).toBe(120_000)
    expect(indicatorBody({ ...before, ttl: '' }, before).ttl).toBeNull()
  })
})

describe('a typed command', () => {
  it('is split as a shell does', () => {
    expect(splitCommand(`sh -c "echo 'a b' \\"c\\"" d\\ e ''`)).toEqual([
      'sh',
      '-c',
      `echo 'a b' "c"`,
      'd e',
      '',
    ])
  })

  it('is refused with an open quote', () => {
    expect(splitCommand('echo "a')).toBeNull()
  })
})
