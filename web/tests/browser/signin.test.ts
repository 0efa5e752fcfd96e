import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { OWNER, type Server } from './server'
import { until, World } from './world'

const worlds: World[] = []
async function start(options?: Parameters<typeof World.start>[0]): Promise<World> {
  const world = await World.start(options)
  worlds.push(world)
  return world
}
afterAll(() => Promise.all(worlds.map((world) => world.stop())))

/** The code that an authenticator app shows now (RFC 6238). */
function codeNow(secret: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret.replace(/=+$/, '')]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
  const moment = Buffer.alloc(8)
  moment.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const digest = createHmac('sha1', key).update(moment).digest()
  const at = digest[19]! & 15
  return String((digest.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

async function enter(page: Page, world: World, password = OWNER.password): Promise<void> {
  await page.goto(`${world.url}/`)
  await page.getByLabel('E-mail or user name').fill(OWNER.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('an empty server is set up with the code from its log', async () => {
  const world = await start({ unclaimed: true })
  const page = await world.anonymousPage()
  await page.goto(`${world.url}/`)
  await page.waitForURL(/\/ui\/setup/)
  await page.getByLabel('Code from the server’s log').fill('wrong')
  await page.getByLabel('Organization').fill('first')
  await page.getByLabel('E-mail').fill('root@example.org')
  await page.getByRole('textbox', { name: 'Password' }).fill('a long first password')
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Code from the server’s log').fill(await codeOf(world.server))
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.waitForURL(/\/ui\/first/)
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
  // Now the server has an organization, and nothing to set up.
  await page.goto(`${world.url}/ui/setup`)
  await page.waitForURL(/\/ui\/login/)
  expect(world.pageErrors).toEqual([])
})

function codeOf(server: Server): Promise<string> {
  return until(async () => server.printed.match(/ code=([A-Za-z0-9-]+)/)?.[1], 'a code in the log')
}

test('a second factor is set up and required, and a recovery code replaces it', async () => {
  const world = await start({ demo: false, agent: false })
  const page = await world.page('/settings/security')
  const section = page.getByRole('region', { name: 'Second factor' })
  await section.getByRole('textbox', { name: 'Current password' }).fill(OWNER.password)
  await section.getByRole('button', { name: 'Set up' }).click()
  const secret = await section.locator('.totp code').innerText()
  await section.getByRole('textbox', { name: 'Code' }).fill(codeNow(secret))
  await section.getByRole('button', { name: 'Confirm' }).click()
  const list = page.getByRole('dialog', { name: 'Recovery codes' }).locator('code')
  await list.first().waitFor()
  const codes = await list.allInnerTexts()
  expect(codes).toHaveLength(10)
  await page.getByRole('button', { name: 'I have saved them' }).click()
  const other = await world.anonymousPage()
  await enter(other, world)
  await other.getByLabel('Code from your app').fill('000000')
  await other.getByRole('button', { name: 'Continue' }).click()
  await other.getByRole('alert').waitFor()
  await other.getByLabel('Code from your app').fill(codes[0]!)
  await other.getByRole('button', { name: 'Continue' }).click()
  await other.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
  expect(world.pageErrors).toEqual([])
})

test('a changed password ends the other sessions', async () => {
  const world = await start({ demo: false, agent: false })
  const here = await world.page('/settings/security')
  const there = await world.page('/')
  await there.getByRole('status', { name: 'Live' }).waitFor()
  const section = here.getByRole('region', { name: 'Password' })
  await section.getByRole('textbox', { name: 'Current password' }).fill(OWNER.password)
  await section.getByRole('textbox', { name: 'New password' }).fill('another long password')
  await section.getByRole('button', { name: 'Change' }).click()
  await there.waitForURL(/\/ui\/login/)
  await enter(there, world, 'another long password')
  await there.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
  expect(world.pageErrors).toEqual([])
})
