import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CUSTOMER, OWNER, PROGRAM } from './server'
import { World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false, agent: false })
  for (const name of ['globex', 'initech']) await organizationWithInvitation(name)
})
afterAll(() => world.stop())

/** Another organization, whose owner invites the owner of acme. */
async function organizationWithInvitation(name: string): Promise<void> {
  const data = join(world.server.folder, 'data')
  const email = `owner@${name}.test`
  const password = `a long password of ${name}`
  const words = ['organization', 'create', name, '--email', email, '--data', data, '--json']
  const { link } = JSON.parse(execFileSync(PROGRAM, words, { encoding: 'utf8' }))
  const reset = await fetch(`${world.url}/api/auth/password/reset`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: new URL(link).hash.slice(1), password }),
  })
  expect(reset.status).toBe(200)
  const body = { user: { email: OWNER.email }, credential: 'user' }
  await world.api('POST', '/api/member', body, { email, password })
}

const memberships = async () =>
  (await world.api('GET', '/api/session/profile')).customers.map(
    (customer: { name: string }) => customer.name,
  )

test('an invited person joins only the organizations that they accept', async () => {
  expect(await memberships()).toEqual([CUSTOMER])
  const page = await world.page('/settings/security')
  const offers = page.getByRole('region', { name: 'Memberships to accept' })
  await expect.poll(() => offers.getByText('invited as user').count()).toBe(2)
  const help = offers.getByText('Accept only those that you know')
  expect(await help.evaluate((text) => text.scrollWidth <= text.clientWidth)).toBe(true)
  await offers.getByRole('button', { name: 'Decline initech' }).click()
  await page.getByText('You declined membership in initech').waitFor()
  await offers.getByRole('button', { name: 'Decline initech' }).waitFor({ state: 'detached' })
  expect(await memberships()).toEqual([CUSTOMER])
  await offers.getByRole('button', { name: 'Accept globex' }).click()
  await page.getByText('You are a member of globex with this account').waitFor()
  await offers.waitFor({ state: 'detached' })
  expect((await memberships()).sort()).toEqual([CUSTOMER, 'globex'])
  await page.getByRole('button', { name: /Organizations$/ }).click()
  await page.getByRole('menuitem', { name: 'globex' }).click()
  await page.waitForURL(/\/ui\/globex/)
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor()
})

test('signing out everywhere else ends the other sessions and keeps this one', async () => {
  const as = await world.member('viewer')
  const there = await world.page('/', { as })
  await there.getByRole('status', { name: 'Live' }).waitFor()
  const page = await world.page('/settings/security', { as })
  const sessions = page.getByRole('region', { name: 'Sessions' })
  await expect.poll(() => sessions.getByRole('listitem').count()).toBeGreaterThan(1)
  const button = sessions.getByRole('button', { name: 'End all others' })
  await button.click()
  await page.getByText('Your other sessions have ended.').waitFor()
  await there.waitForURL(/\/ui\/login/)
  await expect.poll(() => sessions.getByRole('listitem').count()).toBe(1)
  expect(await button.isDisabled()).toBe(true)
  await page.reload()
  await sessions.getByText('this session').waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
