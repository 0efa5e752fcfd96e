import { expect, test } from 'vitest'
import { installCommands, isLoopback, reachability } from '../installAddresses'

const OPTIONS = ['--host 0.0.0.0 --url http://192.0.2.7:8420']
const address = {
  url: '',
  listens_on_loopback: true,
  addresses: ['http://192.0.2.7:8420'],
  options: OPTIONS,
}

test('the install command is built with and without sudo', () => {
  const { withSudo, plain } = installCommands('http://192.0.2.7:8420/', 'bve_x')
  // sudo removes a variable that is set before it.
  expect(withSudo).toBe(
    'curl -fsSL http://192.0.2.7:8420/-/install.sh | sudo BELVEDERE_ENROLMENT_TOKEN=bve_x sh',
  )
  expect(plain).toBe(
    'curl -fsSL http://192.0.2.7:8420/-/install.sh | BELVEDERE_ENROLMENT_TOKEN=bve_x sh',
  )
})

test('loopback addresses are recognized', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', 'a.localhost', '[::1]'])
    expect(isLoopback(`http://${host}:8420/`), host).toBe(true)
  for (const host of ['127.example.org', 'localhost.example.org', '192.0.2.7', '[fd00::2]'])
    expect(isLoopback(`http://${host}:8420/`), host).toBe(false)
})

test('a server that listens on loopback comes with options to restart it', () => {
  const reach = reachability('http://127.0.0.1:8420/', address)
  expect(reach).toEqual({ root: 'http://127.0.0.1:8420/', choices: [], options: OPTIONS })
})

test('a page behind a proxy, and --url, need no advice', () => {
  expect(reachability('https://belvedere.example.org/', address).options).toEqual([])
  const url = { ...address, url: 'https://belvedere.example.org' }
  expect(reachability('http://127.0.0.1:8420/', url)).toEqual({
    root: 'https://belvedere.example.org/',
    choices: [],
    options: [],
  })
})

test('a server that listens on every address offers those of its machine', () => {
  const reach = reachability('http://localhost:8420/', { ...address, listens_on_loopback: false })
  expect(reach.root).toBe('http://192.0.2.7:8420/')
  expect(reach.choices).toEqual(['http://192.0.2.7:8420/'])
})
