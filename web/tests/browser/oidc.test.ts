import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Provider } from './provider'
import { REPOSITORY } from './server'
import { World } from './world'

const GRACE = { sub: 's-grace', email: 'grace@acme.test', name: 'Grace' }

let world: World
let provider: Provider
beforeAll(async () => {
  provider = await Provider.start(GRACE)
  const env = { BELVEDERE_INNER_NETWORKS: '127.0.0.0/8' }
  world = await World.start({ demo: false, agent: false, env })
})
afterAll(async () => {
  await world.stop()
  await provider.stop()
})

/** A person without a session who opens the jobs and chooses the provider. */
async function signInThroughProvider(): Promise<Page> {
  const page = await world.anonymousPage()
  await page.goto(world.at('/jobs'))
  await page.getByRole('link', { name: 'Sign in with Our directory' }).click()
  return page
}

const menu = (page: Page) => page.getByRole('button', { name: 'Actions: Our directory' })

test('an owner adds a provider, and its secret is never shown again', async () => {
  const page = await world.page('/settings/organization')
  await page.getByRole('button', { name: 'New provider' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill('Our directory')
  await form.getByLabel('Issuer').fill(provider.issuer)
  await form.getByLabel('Client id').fill('belvedere')
  await form.getByLabel('Client secret').fill(provider.secret)
  await form.getByRole('combobox', { name: 'E-mail domains' }).fill('acme.test')
  await page.keyboard.press('Enter')
  await form.getByRole('combobox', { name: 'Level of new members' }).click()
  await page.getByRole('option', { name: 'user', exact: true }).click()
  await form.getByRole('button', { name: /^(Create|Save)$/ }).click()
  // The dialog continues with the new provider: its redirect address is known only now.
  await form.getByText(/\/-\/oidc\/[0-9a-f]{24}\/callback$/).waitFor()
  expect(await form.getByLabel('Client secret').inputValue()).toBe('')
  expect(await page.content()).not.toContain(provider.secret)
})

test('a person signs in through the provider and reaches the requested page', async () => {
  const page = await signInThroughProvider()
  await page.waitForURL(world.at('/jobs'))
  const who = page.getByRole('button', { name: /Account$/ })
  await expect.poll(() => who.innerText()).toMatch(/^grace\s+user/)
  await page.goto(world.at('/settings/security'))
  await page.getByText('You sign in through a provider').waitFor()
  expect(await page.getByRole('region', { name: 'Password', exact: true }).count()).toBe(0)
  const owner = await world.page('/people')
  await owner.getByRole('combobox', { name: 'Level of Grace' }).waitFor()
})

test('a link from elsewhere asks before it leads to the provider', async () => {
  const [provider] = await world.api<{ id: string }[]>('GET', '/api/provider')
  const page = await world.anonymousPage()
  const target = encodeURIComponent(new URL(world.at('/jobs')).pathname)
  await page.goto(new URL(`/-/oidc/${provider!.id}/begin?to=${target}`, world.at('/')).href)
  await page.getByRole('button', { name: 'Sign in with Our directory' }).click()
  await page.waitForURL(world.at('/jobs'))
  await page.getByRole('button', { name: /Account$/ }).waitFor()
})

test('other accounts see why they cannot sign in', async () => {
  await provider.setAccount({ sub: 's-eve', email: 'eve@evil.test' })
  const page = await signInThroughProvider()
  await page.getByText('E-mail addresses of your domain are not allowed.').waitFor()
  await page.goto(world.at('/jobs'))
  await page.waitForURL(/\/ui\/login/)
  await provider.setAccount({ ...GRACE, sub: 's-somebody-else' })
  await (await signInThroughProvider())
    .getByText('This e-mail address belongs to another account')
    .waitFor()
})

/** The dialog with the stored provider. */
async function edits(page: Page): Promise<Locator> {
  await menu(page).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  return page.getByRole('dialog')
}

const stored = async () => (await world.api<any[]>('GET', '/api/provider'))[0]

test('a change of the name keeps the secret, another issuer needs its own', async () => {
  const other = await Provider.start(GRACE)
  const page = await world.page('/settings/organization')
  const form = await edits(page)
  await form.getByLabel('Issuer').fill(other.issuer)
  await form.getByRole('button', { name: /^(Create|Save)$/ }).click()
  await form.getByText(`The stored one was entered for ${provider.issuer}`).waitFor()
  expect((await stored()).issuer).toBe(provider.issuer)
  await form.getByLabel('Issuer').fill(provider.issuer)
  await form.getByLabel('Name').fill('Our directory 2')
  await form.getByRole('button', { name: /^(Create|Save)$/ }).click()
  await form.waitFor({ state: 'hidden' })
  expect((await stored()).name).toBe('Our directory 2')
  await world.api('PATCH', `/api/provider/${(await stored()).id}`, { name: 'Our directory' })
  await provider.setAccount(GRACE)
  await (await signInThroughProvider()).waitForURL(world.at('/jobs'))
  await other.stop()
})

test('a provider of an older version is switched to its own redirect address', async () => {
  const database = join(world.server.folder, 'data', 'belvedere.db')
  const script =
    'import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=30);' +
    ' c.execute("update providers set callback = \'shared\'"); c.commit()'
  execFileSync(join(REPOSITORY, '.venv/bin/python'), ['-c', script, database])
  const page = await world.page('/settings/organization')
  const form = await edits(page)
  await form.getByText('This provider still uses an address that it shares').waitFor()
  await form.getByRole('switch', { name: 'Switch to its own address' }).check()
  await form.getByRole('button', { name: /^(Create|Save)$/ }).click()
  await form.waitFor({ state: 'hidden' })
  const { callback, callback_kind, own_callback } = await stored()
  expect([callback_kind, callback]).toEqual(['own', own_callback])
})

test('a disabled provider cannot be used to sign in', async () => {
  const page = await world.page('/settings/organization')
  const form = await edits(page)
  await form.getByRole('switch', { name: 'Enabled' }).uncheck()
  await form.getByRole('button', { name: /^(Create|Save)$/ }).click()
  await form.waitFor({ state: 'hidden' })
  const visitor = await world.anonymousPage()
  const [answer] = await Promise.all([
    visitor.waitForResponse(/\/api\/auth\/methods/),
    visitor.goto(world.at('/jobs')),
  ])
  expect((await answer.json()).providers).toEqual([])
  await visitor.getByRole('button', { name: 'Sign in' }).waitFor()
  expect(await visitor.getByRole('link', { name: /Our directory/ }).count()).toBe(0)
})

test('a provider is deleted after a confirmation', async () => {
  const page = await world.page('/settings/organization')
  await menu(page).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Passwords only').waitFor()
  expect(await world.api('GET', '/api/provider')).toEqual([])
})

test('no page logged an error or called another host', () => {
  const there = `request to another host: ${provider.issuer}/authorize`
  expect(world.pageErrors.filter((error) => !error.startsWith(there))).toEqual([])
})
