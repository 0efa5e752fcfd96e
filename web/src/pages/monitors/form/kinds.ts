import {
  Activity,
  Boxes,
  Cable,
  Cpu,
  File,
  Globe,
  ListTree,
  type LucideIcon,
  Radio,
  ScrollText,
  ServerCog,
  ShieldCheck,
  Signpost,
} from 'lucide-react'
import type { Monitor } from '../../../api/queries/monitoring/monitor'
import { catalogue } from '../../../lib/i18n'
import { SERVICE_KINDS } from '../../../lib/state'

/** The input of a field. Times are milliseconds in the API and seconds on the page. */
export type FieldInput =
  | 'text'
  | 'long'
  | 'number'
  | 'percent'
  | 'seconds'
  | 'switch'
  | 'words'
  | 'headers'
  | 'script'
  | 'file'
  | 'monitors'
  | readonly string[]

export interface Field {
  name: string
  input: FieldInput
  first?: unknown
  required?: boolean
  /** Shown only on request. */
  seldom?: boolean
  /** An empty value is sent as null, which clears it. */
  clears?: boolean
}

const TIMEOUT: Field = { name: 'timeout', input: 'seconds', first: 10_000, seldom: true }
const TARGET: Field = { name: 'target', input: 'text', required: true }

/** The fields of each kind of monitor, in the order of the form. */
const KINDS: Record<string, Field[]> = {
  scraper: [
    { name: 'url', input: 'text', required: true, first: 'https://' },
    { name: 'status_code', input: 'text' },
    { name: 'pattern', input: 'text' },
    { name: 'max_ms', input: 'number', first: 0, seldom: true },
    { name: 'json_path', input: 'text', seldom: true },
    { name: 'json_value', input: 'text', seldom: true, clears: true },
    {
      name: 'method',
      input: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      first: 'GET',
      seldom: true,
    },
    { name: 'headers', input: 'headers', first: {}, seldom: true },
    { name: 'body', input: 'long', seldom: true },
    { name: 'json', input: 'switch', first: false, seldom: true },
    { name: 'gzip', input: 'switch', first: false, seldom: true },
    TIMEOUT,
  ],
  tcp: [TARGET, { name: 'port', input: 'number', required: true, first: 443 }, TIMEOUT],
  ping: [TARGET, TIMEOUT],
  dns: [
    TARGET,
    { name: 'record', input: ['A', 'AAAA'], first: 'A' },
    { name: 'address', input: 'text' },
    TIMEOUT,
  ],
  tls: [
    TARGET,
    { name: 'port', input: 'number', first: 443 },
    { name: 'days', input: 'number', first: 14 },
    TIMEOUT,
  ],
  dstat: [
    { name: 'cpu', input: 'percent', first: 90 },
    { name: 'mem', input: 'percent', first: 90 },
    { name: 'cache', input: 'percent', first: 90 },
    { name: 'disk', input: 'percent', first: 90 },
    TIMEOUT,
  ],
  process: [
    { name: 'raw_search', input: 'text', required: true },
    { name: 'is_regexp', input: 'switch', first: false },
    { name: 'least', input: 'number', first: 1 },
    { name: 'most', input: 'number', clears: true },
    TIMEOUT,
  ],
  file: [
    { name: 'path', input: 'text', required: true },
    { name: 'file', input: 'file' },
    { name: 'permissions', input: 'text', seldom: true },
    { name: 'os_username', input: 'text', seldom: true },
    { name: 'os_groupname', input: 'text', seldom: true },
    TIMEOUT,
  ],
  psaux: [TIMEOUT],
  script: [
    { name: 'script_id', input: 'script', required: true },
    { name: 'script_arguments', input: 'words', first: [] },
    { name: 'script_runas', input: 'text', seldom: true },
    TIMEOUT,
  ],
  nested: [{ name: 'monitors', input: 'monitors', required: true, first: [] }],
  push: [{ name: 'grace', input: 'seconds', first: 0 }],
  host: [],
}

/** The icon of each kind on the page where one is chosen. */
export const KIND_ICONS: Record<string, LucideIcon> = {
  scraper: Globe,
  tcp: Cable,
  ping: Activity,
  dns: Signpost,
  tls: ShieldCheck,
  process: Cpu,
  psaux: ListTree,
  file: File,
  script: ScrollText,
  push: Radio,
  nested: Boxes,
  dstat: ServerCog,
}

/** One sentence about each kind. */
export const useKindHelp = catalogue<Record<string, string>>(
  {
    scraper: 'A web address returns the expected response.',
    dstat: 'CPU, memory, swap and disks stay below their limits.',
    process: 'The expected number of processes is running.',
    script: 'A script of yours succeeds.',
    file: 'A file exists, with the right owner; reports when it changes, or restores it from a stored file.',
    psaux: 'Lists the processes of a host, for admins.',
    host: 'An agent is connected.',
    nested: 'Several monitors as one: normal if all of them are.',
    tcp: 'A port accepts connections.',
    ping: 'A machine responds to ping.',
    dns: 'A name resolves.',
    tls: 'A certificate is valid, and for long enough.',
    push: 'Something reports regularly, such as a nightly backup.',
  },
  {
    scraper: 'Una dirección web devuelve la respuesta esperada.',
    dstat: 'CPU, memoria, intercambio y discos quedan bajo sus límites.',
    process: 'Está en marcha el número esperado de procesos.',
    script: 'Un script tuyo termina bien.',
    file: 'Un archivo existe, con el dueño correcto; avisa cuando cambia, o lo restaura desde un archivo guardado.',
    psaux: 'Lista los procesos de un equipo, para administradores.',
    host: 'Un agente está conectado.',
    nested: 'Varios monitores como uno: normal si todos lo están.',
    tcp: 'Un puerto acepta conexiones.',
    ping: 'Una máquina responde al ping.',
    dns: 'Un nombre se resuelve.',
    tls: 'Un certificado es válido, y por tiempo suficiente.',
    push: 'Algo informa con regularidad, como una copia nocturna.',
  },
)

/** Kinds that people create; the monitor of a host is created with its host. */
export const CREATABLE_KINDS = Object.keys(KINDS).filter((kind) => kind !== 'host')

export function needsHost(kind: string): boolean {
  return !['nested', 'push'].includes(kind)
}

/** The settings of every kind. */
export const COMMON: Field[] = [
  { name: 'looptime', input: 'seconds', first: 60_000 },
  { name: 'fail_threshold', input: 'number', first: 3 },
  { name: 'failure_severity', input: ['LOW', 'HIGH', 'CRITICAL'], first: 'LOW' },
]

/** As the server's default: a service that is down is shown in red. */
function commonOf(kind: string): Field[] {
  const first = SERVICE_KINDS.has(kind) ? 'HIGH' : 'LOW'
  return COMMON.map((field) => (field.name === 'failure_severity' ? { ...field, first } : field))
}

export type Values = Record<string, unknown>

export function fieldsOf(kind: string): Field[] {
  // A push monitor runs no check, so it has no timeout and no threshold.
  return KINDS[kind] ?? []
}

/** A new monitor of a kind, before anybody typed. */
export function newValues(kind: string): Values {
  const all = [...fieldsOf(kind), ...commonOf(kind)]
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

/** The values of a record, in the format of the form. */
export function valuesOf(monitor: Monitor): Values {
  const { limit, ...config } = monitor.config as { limit?: Values } & Values
  const record = monitor as unknown as Values
  const settings = { ...config, ...limit }
  const common = ['name', 'description', 'tags', 'host_id', 'maintenance']
  return {
    ...newValues(monitor.type),
    ...Object.fromEntries(
      fieldsOf(monitor.type).map(({ name, first }) => [name, settings[name] ?? first ?? '']),
    ),
    ...Object.fromEntries(
      [...common, ...COMMON.map((field) => field.name)].map((name) => [name, record[name]]),
    ),
  }
}

/** The body of a call: only the fields of the kind, numbers as numbers. */
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
    if (value === '' && isNumber(field.input)) {
      if (field.clears) body[field.name] = null
    } else if (value === '' && field.clears) body[field.name] = null
    else body[field.name] = value
  }
  return body
}

function isNumber(input: FieldInput): boolean {
  return input === 'number' || input === 'percent' || input === 'seconds'
}
