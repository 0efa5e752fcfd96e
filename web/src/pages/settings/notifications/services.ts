import FORMS from './services.json'

/** The fields of a service for people; generated from Apprise's details by `make services`. */
export interface Field {
  name: string
  /** As Apprise names it, in English. */
  label: string
  isOptional?: boolean
  isSecret?: boolean
  /** A part of the query of the address. */
  isArgument?: boolean
  choices?: string[]
  initial?: string
  placeholder?: string
}

export interface Service {
  id: string
  label: string
  /** The page of Apprise that describes where to find the values. */
  help?: string
  scheme?: string
  /** For a server without TLS. */
  plainScheme?: string | null
  /** How Apprise writes the address, one for each set of fields. */
  templates?: string[]
  fields: Field[]
}

type Values = Record<string, string>

const PASTED: Field = {
  name: 'webhookUrl',
  label: 'Webhook URL',
  isSecret: true,
  placeholder: 'https://…',
}

/** The services that the wizard asks about; every other Apprise address can be typed. */
export const SERVICES: Service[] = (FORMS as Partial<Service>[]).map((form) => ({
  ...(form as Service),
  fields: form.fields ?? [PASTED],
}))

const trimmed = (values: Values, name: string) => (values[name] ?? '').trim()

/** The address that Apprise reads, of the values of a form. */
export function addressOf(service: Service, values: Values): string {
  if (!service.templates) return trimmed(values, PASTED.name)
  const query = service.fields
    .filter(({ name, isArgument }) => isArgument && trimmed(values, name))
    .map(({ name }) => `${name}=${encodeURIComponent(trimmed(values, name))}`)
  return fillTemplate(service, values) + (query.length ? `?${query.join('&')}` : '')
}

/** The usual port of each encryption of mail. */
const MAIL_PORTS: Values = { starttls: '587', ssl: '465', insecure: '25' }

/** The values after one was changed: the encryption and the port of mail follow each other. */
export function withValue(values: Values, name: string, value: string): Values {
  const next = { ...values, [name]: value }
  if (name === 'mode' && Object.values(MAIL_PORTS).includes(values.port ?? ''))
    return { ...next, port: MAIL_PORTS[value] ?? '' }
  // Only this port leaves no choice: it uses TLS from the first byte.
  if (name === 'port' && 'mode' in values && value.trim() === MAIL_PORTS.ssl)
    return { ...next, mode: 'ssl' }
  return next
}

/** The template that has a place for exactly the fields that are filled in. */
function fillTemplate({ templates = [], fields, scheme, plainScheme }: Service, values: Values) {
  const names = fields
    .filter(({ name, isArgument }) => !isArgument && trimmed(values, name))
    .map(({ name }) => name)
  const template =
    templates.find((text) => placesOf(text).toSorted().join() === names.toSorted().join()) ??
    templates.at(-1) ??
    ''
  const isPlain = trimmed(values, 'host').startsWith('http://') || values.mode === 'insecure'
  return template.replace(/\{(\w+)\}/g, (_place, name: string) =>
    name === 'schema' ? (isPlain && plainScheme) || scheme || '' : partOf(name, values),
  )
}

const placesOf = (template: string) =>
  [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).filter((name) => name !== 'schema')

function partOf(name: string, values: Values): string {
  const value = trimmed(values, name)
  // A server may be typed with its scheme and a slash; a path belongs to the address.
  if (name === 'host') return serverOf(values)
  // The colon of a bot token belongs to it.
  return name === 'bot_token' ? value : encodeURIComponent(value)
}

const serverOf = (values: Values) =>
  trimmed(values, 'host')
    .replace(/^https?:\/\//, '')
    .replace(/[?#].*$/, '')
    .replace(/\/+$/, '')

/** The server has a path, and the addresses of the service have no place for one. */
export function hasRefusedPath({ templates = [] }: Service, values: Values): boolean {
  const allowsPath = templates.some((template) => /\{(?:full)?path\}/.test(template))
  return !allowsPath && serverOf(values).includes('/')
}

/** The initial values of a form. */
export function firstValues(service: Service): Values {
  return Object.fromEntries(service.fields.map(({ name, initial }) => [name, initial ?? '']))
}

export function isComplete(service: Service, values: Values): boolean {
  const isFilled = service.fields.every(
    ({ name, isOptional }) => isOptional || trimmed(values, name),
  )
  return isFilled && !hasRefusedPath(service, values)
}
