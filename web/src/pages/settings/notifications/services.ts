/** What a person knows of a service, and the address that Apprise makes of it. */
export interface Field {
  name: FieldName
  /** Empty: must be filled in. */
  first?: string
  isOptional?: boolean
  isSecret?: boolean
  placeholder?: string
}

export type FieldName =
  | 'webhookUrl'
  | 'server'
  | 'port'
  | 'user'
  | 'password'
  | 'sender'
  | 'recipient'
  | 'botToken'
  | 'chatId'
  | 'topic'
  | 'token'
  | 'userKey'
  | 'integrationKey'
  | 'source'
  | 'apiKey'
  | 'region'

type Values = Record<string, string>

export interface Service {
  id: string
  label: string
  fields: Field[]
  url: (values: Values) => string
}

const part = (text: string | undefined) => encodeURIComponent((text ?? '').trim())
/** A host that may come with its scheme, a path or a slash. */
const host = (text: string | undefined) =>
  (text ?? '')
    .trim()
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
const isPlain = (text: string | undefined) => (text ?? '').trim().startsWith('http://')
const pasted = (values: Values) => (values.webhookUrl ?? '').trim()
const WEBHOOK: Field[] = [{ name: 'webhookUrl', isSecret: true, placeholder: 'https://…' }]

/** The services that the wizard asks about; every other Apprise address can be typed. */
export const SERVICES: Service[] = [
  {
    id: 'email',
    label: 'E-mail',
    fields: [
      { name: 'server', placeholder: 'smtp.example.com' },
      { name: 'port', first: '587' },
      { name: 'user', isOptional: true },
      { name: 'password', isOptional: true, isSecret: true },
      { name: 'sender', placeholder: 'belvedere@example.com' },
      { name: 'recipient', placeholder: 'ops@example.com' },
    ],
    url: emailUrl,
  },
  { id: 'slack', label: 'Slack', fields: WEBHOOK, url: pasted },
  { id: 'teams', label: 'Microsoft Teams', fields: WEBHOOK, url: pasted },
  {
    id: 'telegram',
    label: 'Telegram',
    fields: [{ name: 'botToken', isSecret: true }, { name: 'chatId' }],
    url: ({ botToken = '', chatId }) => `tgram://${botToken.trim()}/${part(chatId)}/`,
  },
  { id: 'discord', label: 'Discord', fields: WEBHOOK, url: pasted },
  {
    id: 'ntfy',
    label: 'ntfy',
    fields: [
      { name: 'server', first: 'https://ntfy.sh' },
      { name: 'topic' },
      { name: 'token', isOptional: true, isSecret: true },
    ],
    url: ({ server, topic, token }) =>
      `${isPlain(server) ? 'ntfy' : 'ntfys'}://${token?.trim() ? `${part(token)}@` : ''}${host(server)}/${part(topic)}`,
  },
  {
    id: 'pushover',
    label: 'Pushover',
    fields: [
      { name: 'userKey', isSecret: true },
      { name: 'token', isSecret: true },
    ],
    url: ({ userKey, token }) => `pover://${part(userKey)}@${part(token)}`,
  },
  {
    id: 'gotify',
    label: 'Gotify',
    fields: [
      { name: 'server', placeholder: 'https://push.example.com' },
      { name: 'token', isSecret: true },
    ],
    url: ({ server, token }) =>
      `${isPlain(server) ? 'gotify' : 'gotifys'}://${host(server)}/${part(token)}`,
  },
  {
    id: 'mattermost',
    label: 'Mattermost',
    fields: [
      { name: 'webhookUrl', isSecret: true, placeholder: 'https://chat.example.com/hooks/…' },
    ],
    url: mattermostUrl,
  },
  {
    id: 'pagerduty',
    label: 'PagerDuty',
    fields: [
      { name: 'integrationKey', isSecret: true },
      { name: 'source', first: 'belvedere' },
    ],
    url: ({ integrationKey, source }) => `pagerduty://${part(integrationKey)}@${part(source)}`,
  },
  {
    id: 'opsgenie',
    label: 'Opsgenie',
    fields: [
      { name: 'apiKey', isSecret: true },
      { name: 'region', first: 'us' },
    ],
    url: ({ apiKey, region }) => `opsgenie://${part(apiKey)}?region=${part(region)}`,
  },
  { id: 'webhook', label: 'Webhook', fields: WEBHOOK, url: pasted },
]

function emailUrl({ server, port = '', user, password, sender, recipient }: Values): string {
  // Port 465 speaks TLS from the first byte; the others switch to it.
  const mode = port.trim() === '465' ? 'ssl' : 'starttls'
  const login = user?.trim() ? `user=${part(user)}&pass=${part(password)}&` : ''
  return `mailtos://${host(server)}:${part(port)}/?${login}from=${part(sender)}&to=${part(recipient)}&mode=${mode}`
}

function mattermostUrl(values: Values): string {
  const url = pasted(values)
  const [, name = '', token = ''] = /^https?:\/\/(.+)\/hooks\/([^/]+)\/?$/.exec(url) ?? []
  return name ? `${isPlain(url) ? 'mmost' : 'mmosts'}://${name}/${token}` : url
}

/** What a form begins with. */
export function firstValues(service: Service): Values {
  return Object.fromEntries(service.fields.map((field) => [field.name, field.first ?? '']))
}

export function isComplete(service: Service, values: Values): boolean {
  return service.fields.every((field) => field.isOptional || values[field.name]?.trim())
}
