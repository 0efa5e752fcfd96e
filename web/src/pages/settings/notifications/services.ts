import FORMS from './services.json'

/** What a person knows of a service; generated from Apprise's details by `make services`. */
export interface Field {
  name: string
  /** As Apprise names it, in English. */
  label: string
  isOptional?: boolean
  isSecret?: boolean
  /** Goes into the query of the address. */
  isArgument?: boolean
  choices?: string[]
  initial?: string
  placeholder?: string
}

export interface Service {
  id: string
  label: string
  /** The page of Apprise that says where to find the values. */
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
  if (service.id === 'email') query.push(`mode=${encryptionOf(values)}`)
  return fillTemplate(service, values) + (query.length ? `?${query.join('&')}` : '')
}

/** Port 465 speaks TLS from the first byte; the others switch to it. */
const encryptionOf = (values: Values) => (trimmed(values, 'port') === '465' ? 'ssl' : 'starttls')

/** The template that has a place for exactly the fields that are filled in. */
function fillTemplate({ templates = [], fields, scheme, plainScheme }: Service, values: Values) {
  const names = fields
    .filter(({ name, isArgument }) => !isArgument && trimmed(values, name))
    .map(({ name }) => name)
  const template =
    templates.find((text) => placesOf(text).toSorted().join() === names.toSorted().join()) ??
    templates.at(-1) ??
    ''
  const isPlain = trimmed(values, 'host').startsWith('http://') && plainScheme
  return template.replace(/\{(\w+)\}/g, (_place, name: string) =>
    name === 'schema' ? ((isPlain ? plainScheme : scheme) ?? '') : partOf(name, values),
  )
}

const placesOf = (template: string) =>
  [...template.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).filter((name) => name !== 'schema')

function partOf(name: string, values: Values): string {
  const value = trimmed(values, name)
  // A server may be typed with its scheme, a path or a slash.
  if (name === 'host') return value.replace(/^https?:\/\//, '').replace(/\/.*$/, '')
  // The colon of a bot token belongs to it.
  return name === 'bot_token' ? value : encodeURIComponent(value)
}

/** What a form begins with. */
export function firstValues(service: Service): Values {
  return Object.fromEntries(service.fields.map(({ name, initial }) => [name, initial ?? '']))
}

export function isComplete(service: Service, values: Values): boolean {
  return service.fields.every(({ name, isOptional }) => isOptional || trimmed(values, name))
}
