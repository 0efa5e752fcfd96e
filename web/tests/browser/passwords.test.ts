import { afterAll, beforeAll, expect, test } from 'vitest'
import { Provider } from './provider'
import { CUSTOMER, OWNER } from './server'
import { World } from './world'

let world: World
let provider: Provider
beforeAll(async () => {
  provider = await Provider.start({ sub: 's-ada', email: OWNER.email, name: 'Ada' })
  const env = { BELVEDERE_INNER_NETWORKS: '127.0.0.0/8' }
  world = await World.start({ demo: false, agent: false, env })
  await world.api('POST', '/api/provider', {
    name: 'Our directory',
    issuer: provider.issuer,
    client_id: 'belvedere',
    client_secret: provider.secret,
  })
})
afterAll(async () => {
  await world.stop()
  await provider.stop()
})

const SWITCH = { name: 'Members may sign in with a password' }

test('passwords cannot be turned off before sign-in through the provider has worked', async () => {
  const page = await world.page('/settings/security')
  await page.getByRole('switch', SWITCH).click({ force: true })
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Turn off passwords' }).click()
  await page.getByText('No owner has signed in through a provider yet').waitFor()
  expect(await page.getByRole('switch', SWITCH).isChecked()).toBe(true)
})

test('an owner turns passwords off, and the sign-in page asks for none', async () => {
  const page = await world.anonymousPage()
  await page.goto(world.at('/settings/security'))
  await page.getByRole('link', { name: 'Sign in with Our directory' }).click()
  await page.waitForURL(world.at('/settings/security'))
  await page.getByRole('switch', SWITCH).click({ force: true })
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off passwords' }).click()
  await expect.poll(() => page.getByRole('switch', SWITCH).isChecked()).toBe(false)
  const visitor = await world.anonymousPage()
  await visitor.goto(world.at('/jobs'))
  await visitor.getByRole('link', { name: 'Sign in with Our directory' }).waitFor()
  expect(await visitor.getByLabel('E-mail or user name').count()).toBe(0)
  const refused = await fetch(`${world.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...OWNER, customer: CUSTOMER }),
  })
  expect([refused.status, (await refused.json()).code]).toEqual([403, 'passwords_off'])
})

test('an invited person is led to the provider, and that accepts the invitation', async () => {
  const owner = await world.anonymousPage()
  await owner.goto(world.at('/people'))
  await owner.getByRole('link', { name: 'Sign in with Our directory' }).click()
  await owner.waitForURL(world.at('/people'))
  const response = await owner.request.post(`${world.url}/api/member`, {
    data: { user: { email: 'nora@example.org' }, credential: 'user' },
    headers: { origin: world.url },
  })
  const { invitation } = await response.json()
  await provider.setAccount({ sub: 's-nora', email: 'nora@example.org', name: 'Nora' })
  const page = await world.anonymousPage()
  await page.goto(invitation.link)
  await page.getByText('This accepts the invitation.').waitFor()
  expect(await page.getByLabel(/password/i).count()).toBe(0)
  await page.getByRole('link', { name: 'Sign in with Our directory' }).click()
  await page.waitForURL(world.at('/'))
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()

  await owner.goto(world.at('/settings/security'))
  await owner.getByRole('switch', SWITCH).click({ force: true })
  await expect.poll(() => owner.getByRole('switch', SWITCH).isChecked()).toBe(true)
})

test('no page logged an error or called another host', () => {
  const there = `request to another host: ${provider.issuer}/authorize`
  expect(world.pageErrors.filter((error) => !error.startsWith(there))).toEqual([])
})
