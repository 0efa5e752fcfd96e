import { describe, expect, it } from 'vitest'
import { headersOf, headerText } from '../HeadersInput'
import {
  bodyOf,
  CREATABLE_KINDS,
  fieldsOf,
  KIND_ICONS,
  needsHost,
  newValues,
  valuesOf,
} from '../kinds'

describe('forms of monitors', () => {
  it('has an icon for every kind that can be created', () => {
    expect(Object.keys(KIND_ICONS).toSorted()).toEqual(CREATABLE_KINDS.toSorted())
  })

  it('shows at most five options before a heading is opened', () => {
    const visible = (kind: string) =>
      fieldsOf(kind).filter((field) => !field.seldom).length + (needsHost(kind) ? 1 : 0)
    const sizes = CREATABLE_KINDS.map((kind) => [kind, visible(kind)] as const)
    expect(sizes.filter(([, size]) => size > 5)).toEqual([])
  })

  it('sends only what the kind has', () => {
    const body = bodyOf('ping', { ...newValues('ping'), name: 'p', target: 'a.example' })
    expect(body).toMatchObject({ name: 'p', target: 'a.example', looptime: 60_000 })
    expect(body).not.toHaveProperty('url')
    expect(bodyOf('scraper', newValues('scraper')).headers).toEqual({})
    expect(bodyOf('push', newValues('push'))).not.toHaveProperty('host_id')
  })

  it('clears emptied fields and omits numbers that were not entered', () => {
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

  it('creates services with the severity that the server uses by default', () => {
    for (const kind of ['scraper', 'tcp', 'ping', 'dns', 'tls'])
      expect(newValues(kind).failure_severity, kind).toBe('HIGH')
    expect(newValues('file').failure_severity).toBe('LOW')
  })
})
