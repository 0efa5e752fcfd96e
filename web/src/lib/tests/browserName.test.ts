// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import { browserName } from '../browserName'
import { setPrefs } from '../prefs'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const LINUX = `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT}`

afterEach(() => setPrefs({ language: 'en' }))

test.each([
  [`${LINUX} Chrome/156.0.0.0 Safari/537.36`, 'Chrome 156 on Linux'],
  [`${LINUX} HeadlessChrome/156.0.0.0 Safari/537.36`, 'Chrome 156 on Linux'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.1.2`,
    'Edge 140 on Windows',
  ],
  [
    'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
    'Firefox 130 on Linux',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Safari/605.1.15',
    'Safari 18 on macOS',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778 Mobile/15E148 Safari/604.1',
    'Chrome 131 on iOS',
  ],
  [
    `Mozilla/5.0 (Linux; Android 14) ${WEBKIT} Chrome/120.0.0.0 Mobile Safari/537.36`,
    'Chrome 120 on Android',
  ],
])('%s', (agent, name) => expect(browserName(agent)).toBe(name))

test('an unknown value is shown as it was sent', () => {
  for (const agent of ['curl/8.5.0', 'Mozilla/5.0 (something else)', '', '-'])
    expect(browserName(agent)).toBe(agent)
})

test('in Spanish', () => {
  setPrefs({ language: 'es' })
  expect(browserName(`${LINUX} Chrome/156.0.0.0 Safari/537.36`)).toBe('Chrome 156 en Linux')
})
