import { expect, test } from 'vitest'
import {
  addressOf,
  firstValues,
  hasRefusedPath,
  isComplete,
  SERVICES,
  withValue,
} from '../services'
import { useText } from '../text'

const serviceOf = (id: string) => SERVICES.find((service) => service.id === id)!
const urlOf = (id: string, values: Record<string, string>) => addressOf(serviceOf(id), values)

// tests/egress/test_services.py has the same addresses, and asks Apprise whether it knows them.
test.each([
  [
    'email',
    {
      host: 'smtp.example.com',
      port: '587',
      user: 'ops@example.com',
      password: 'pa/ss',
      mode: 'starttls',
      from: 'b@example.com',
      to: 'a@example.com',
    },
    'mailtos://ops%40example.com:pa%2Fss@smtp.example.com:587?mode=starttls&from=b%40example.com&to=a%40example.com',
  ],
  [
    'email',
    { host: 'smtp.example.com', port: '465', mode: 'ssl', from: 'b@example.com', to: 'a@b.com' },
    'mailtos://smtp.example.com:465?mode=ssl&from=b%40example.com&to=a%40b.com',
  ],
  [
    'email',
    { host: 'relay.lan', port: '25', mode: 'insecure', from: 'b@example.com', to: 'a@b.com' },
    'mailto://relay.lan:25?mode=insecure&from=b%40example.com&to=a%40b.com',
  ],
  ['telegram', { bot_token: '123456789:abc_def', targets: '42' }, 'tgram://123456789:abc_def/42'],
  ['ntfy', { host: 'https://ntfy.sh', targets: 'ops' }, 'ntfys://ntfy.sh/ops'],
  [
    'ntfy',
    { host: 'http://10.0.0.5:8080/', targets: 'ops', token: 'tk_1' },
    'ntfy://tk_1@10.0.0.5:8080/ops',
  ],
  ['pushover', { user_key: 'u1', token: 't1' }, 'pover://u1@t1'],
  ['gotify', { host: 'https://push.example.com', token: 'A1' }, 'gotifys://push.example.com/A1'],
  [
    'mattermost',
    { host: 'https://chat.example.com', token: '3ccdd113' },
    'mmosts://chat.example.com/3ccdd113',
  ],
  ['gotify', { host: 'https://example.com/push/', token: 'A1' }, 'gotifys://example.com/push/A1'],
  [
    'mattermost',
    { host: 'http://example.com:8065/team/chat', token: '3ccdd113' },
    'mmost://example.com:8065/team/chat/3ccdd113',
  ],
  [
    'pagerduty',
    { integrationkey: 'k1', apikey: 'a1', source: 'belvedere', region: 'eu' },
    'pagerduty://k1@a1/belvedere?region=eu',
  ],
  ['opsgenie', { apikey: 'k1', region: 'eu' }, 'opsgenie://k1?region=eu'],
  [
    'slack',
    { webhookUrl: ' https://hooks.slack.com/services/A/B/C ' },
    'https://hooks.slack.com/services/A/B/C',
  ],
])('the form of %s makes an address', (id, values, url) => {
  expect(urlOf(id, values as Record<string, string>)).toBe(url)
})

test('a path is refused where the service has no place for one', () => {
  const ntfy = serviceOf('ntfy')
  const values = (host: string) => ({ host, targets: 'ops' })
  expect(hasRefusedPath(ntfy, values('https://example.com/ntfy'))).toBe(true)
  expect(isComplete(ntfy, values('https://example.com/ntfy'))).toBe(false)
  expect(isComplete(ntfy, values('https://example.com/'))).toBe(true)
  expect(hasRefusedPath(serviceOf('gotify'), values('https://example.com/push'))).toBe(false)
})

test('the port of a mail server follows the encryption, unless it is an unusual one', () => {
  const mail = firstValues(serviceOf('email'))
  expect(mail).toMatchObject({ mode: 'starttls', port: '587' })
  expect(withValue(mail, 'mode', 'insecure')).toMatchObject({ mode: 'insecure', port: '25' })
  expect(withValue({ ...mail, port: '2525' }, 'mode', 'ssl').port).toBe('2525')
  expect(withValue(mail, 'port', '465')).toMatchObject({ mode: 'ssl', port: '465' })
  expect(withValue(mail, 'port', '25')).toMatchObject({ mode: 'starttls', port: '25' })
})

test('the attempts of a message have a singular', () => {
  expect(useText.now().tries(1)).toBe('1 attempt')
  expect(useText.now().tries(2)).toBe('2 attempts')
})

test('a form begins with the defaults of Apprise and shows the required fields', () => {
  const opsgenie = serviceOf('opsgenie')
  expect(firstValues(opsgenie)).toEqual({ apikey: '', region: 'us' })
  expect(isComplete(opsgenie, firstValues(opsgenie))).toBe(false)
  expect(isComplete(opsgenie, { apikey: 'k1', region: 'us' })).toBe(true)
})

test('every service of the list has a form', () => {
  expect(SERVICES.map(({ label }) => label)).toEqual([
    'E-mail',
    'Slack',
    'Microsoft Teams',
    'Telegram',
    'Discord',
    'ntfy',
    'Pushover',
    'Gotify',
    'Mattermost',
    'PagerDuty',
    'Opsgenie',
    'Webhook',
  ])
  expect(SERVICES.filter(({ fields }) => !fields.length)).toEqual([])
})
