import type { Monitor } from '../../../api/queries/monitoring/monitor'

/** How a field is asked for. Times are milliseconds on the wire and seconds on the page. */
export type Ask =
  | 'text'
  | 'long'
  | 'number'
  | 'percent'
  | 'seconds'
  | 'switch'
  | 'words'
  | 'headers'
  | 'script'
  | 'monitors'
  | readonly string[]

export interface Field {
  name: string
  ask: Ask
  first?: unknown
  required?: boolean
  /** Shown only on request. */
  seldom?: boolean
  /** An empty value is sent as null, which clears it. */
  clears?: boolean
}

const TIMEOUT: Field = { name: 'timeout', ask: 'seconds', first: 10_000, seldom: true }
const TARGET: Field = { name: 'target', ask: 'text', required: true }

/** What each kind of monitor needs to know; the order is that of the form. */
export const KINDS: Record<string, Field[]> = {
  scraper: [
    { name: 'url', ask: 'text', required: true, first: 'https://' },
    { name: 'status_code', ask: 'text' },
    { name: 'pattern', ask: 'text' },
    { name: 'max_ms', ask: 'number', first: 0, seldom: true },
    { name: 'json_path', ask: 'text', seldom: true },
    { name: 'json_value', ask: 'text', seldom: true, clears: true },
    {
      name: 'method',
      ask: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      first: 'GET',
      seldom: true,
    },
    { name: 'headers', ask: 'headers', first: {}, seldom: true },
    { name: 'body', ask: 'long', seldom: true },
    { name: 'json', ask: 'switch', first: false, seldom: true },
    { name: 'gzip', ask: 'switch', first: false, seldom: true },
    TIMEOUT,
  ],
  tcp: [TARGET, { name: 'port', ask: 'number', required: true, first: 443 }, TIMEOUT],
  ping: [TARGET, TIMEOUT],
  dns: [
    TARGET,
    { name: 'record', ask: ['A', 'AAAA'], first: 'A' },
    { name: 'address', ask: 'text' },
    TIMEOUT,
  ],
  tls: [
    TARGET,
    { name: 'port', ask: 'number', first: 443 },
    { name: 'days', ask: 'number', first: 14 },
    TIMEOUT,
  ],
  dstat: [
    { name: 'cpu', ask: 'percent', first: 90 },
    { name: 'mem', ask: 'percent', first: 90 },
    { name: 'cache', ask: 'percent', first: 90 },
    { name: 'disk', ask: 'percent', first: 90 },
    TIMEOUT,
  ],
  process: [
    { name: 'raw_search', ask: 'text', required: true },
    { name: 'is_regexp', ask: 'switch', first: false },
    { name: 'least', ask: 'number', first: 1 },
    { name: 'most', ask: 'number', clears: true },
    TIMEOUT,
  ],
  file: [
    { name: 'path', ask: 'text', required: true },
    { name: 'permissions', ask: 'text' },
    { name: 'os_username', ask: 'text' },
    { name: 'os_groupname', ask: 'text' },
    TIMEOUT,
  ],
  script: [
    { name: 'script_id', ask: 'script', required: true },
    { name: 'script_arguments', ask: 'words', first: [] },
    { name: 'script_runas', ask: 'text', seldom: true },
    TIMEOUT,
  ],
  nested: [{ name: 'monitors', ask: 'monitors', required: true, first: [] }],
  push: [{ name: 'grace', ask: 'seconds', first: 0 }],
  host: [],
}

/** Kinds that people make; the one of a host comes with its host. */
export const MAKEABLE = Object.keys(KINDS).filter((kind) => kind !== 'host')

export function needsHost(kind: string): boolean {
  return !['nested', 'push'].includes(kind)
}

/** The settings of every kind. */
export const COMMON: Field[] = [
  { name: 'looptime', ask: 'seconds', first: 60_000 },
  { name: 'fail_threshold', ask: 'number', first: 3 },
  { name: 'failure_severity', ask: ['LOW', 'HIGH', 'CRITICAL'], first: 'LOW' },
]

export type Values = Record<string, unknown>

export function fieldsOf(kind: string): Field[] {
  // A push monitor is never asked, so there is nothing to time out or to threshold.
  return KINDS[kind] ?? []
}

/** A new monitor of a kind, before anybody typed. */
export function freshValues(kind: string): Values {
  const all = [...fieldsOf(kind), ...COMMON]
  return {
    name: '',
    description: '',
    tags: [],
    host_id: null,
    maintenance: [],
    ...Object.fromEntries(all.map((field) => [field.name, field.first ?? ''])),
    ...(kind === 'nested' ? { fail_threshold: 1 } : {}),
  }
}

/** What a record holds, as the form wants it. */
export function valuesOf(monitor: Monitor): Values {
  const { limit, ...config } = monitor.config as { limit?: Values } & Values
  const record = monitor as unknown as Values
  const given = { ...config, ...limit }
  const common = ['name', 'description', 'tags', 'host_id', 'maintenance']
  return {
    ...freshValues(monitor.type),
    ...Object.fromEntries(
      fieldsOf(monitor.type).map(({ name, first }) => [name, given[name] ?? first ?? '']),
    ),
    ...Object.fromEntries(
      [...common, ...COMMON.map((field) => field.name)].map((name) => [name, record[name]]),
    ),
  }
}

/** The body of a call: only what the kind has, numbers as numbers. */
export function bodyOf(kind: string, values: Values): Values {
  const body: Values = {
    name: values.name,
    description: values.description,
    tags: values.tags,
    maintenance: values.maintenance,
  }
  if (needsHost(kind)) body.host_id = values.host_id
  for (const field of [...fieldsOf(kind), ...COMMON]) {
    const value = values[field.name]
    if (value === '' && isNumber(field.ask)) {
      if (field.clears) body[field.name] = null
    } else if (value === '' && field.clears) body[field.name] = null
    else body[field.name] = value
  }
  return body
}

function isNumber(ask: Ask): boolean {
  return ask === 'number' || ask === 'percent' || ask === 'seconds'
}
