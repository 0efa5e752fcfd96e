import { expect, test } from 'vitest'
import { SERVICES } from './services'

const urlOf = (id: string, values: Record<string, string>) =>
  SERVICES.find((service) => service.id === id)!.url(values)

// tests/egress/test_services.py has the same addresses, and asks Apprise whether it knows them.
test.each([
  [
    'email',
    {
      server: 'smtp.example.com',
      port: '587',
      user: 'ops@example.com',
      password: 'pa/ss',
      sender: 'b@example.com',
      recipient: 'a@example.com',
    },
    'mailtos://smtp.example.com:587/?user=ops%40example.com&pass=pa%2Fss&from=b%40example.com&to=a%40example.com&mode=starttls',
  ],
  ['telegram', { botToken: '123456789:abc_def', chatId: '42' }, 'tgram://123456789:abc_def/42/'],
  ['ntfy', { server: 'https://ntfy.sh', topic: 'ops' }, 'ntfys://ntfy.sh/ops'],
  [
    'ntfy',
    { server: 'http://10.0.0.5:8080/', topic: 'ops', token: 'tk_1' },
    'ntfy://tk_1@10.0.0.5:8080/ops',
  ],
  ['pushover', { userKey: 'u1', token: 't1' }, 'pover://u1@t1'],
  ['gotify', { server: 'https://push.example.com', token: 'A1' }, 'gotifys://push.example.com/A1'],
  [
    'mattermost',
    { webhookUrl: 'https://chat.example.com/hooks/3ccdd113' },
    'mmosts://chat.example.com/3ccdd113',
  ],
  ['pagerduty', { integrationKey: 'k1', source: 'belvedere' }, 'pagerduty://k1@belvedere'],
  ['opsgenie', { apiKey: 'k1', region: 'eu' }, 'opsgenie://k1?region=eu'],
  [
    'slack',
    { webhookUrl: ' https://hooks.slack.com/services/A/B/C ' },
    'https://hooks.slack.com/services/A/B/C',
  ],
])('the form of %s makes an address', (id, values, url) => {
  expect(urlOf(id, values as Record<string, string>)).toBe(url)
})
