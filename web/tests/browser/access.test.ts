import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGES } from '../../src/app/pages'
import { hasLevel, LEVELS } from '../../src/app/permissions'
import { DOCUMENTED_LEVELS } from '../architecture/pageLevels'
import { until, World } from './world'

let world: World
const INVITED = LEVELS.filter((level) => level !== 'owner')
const people: Record<string, { email: string; password: string }> = {}
beforeAll(async () => {
  world = await World.start()
  for (const level of INVITED) people[level] = await world.member(level)
})
afterAll(() => world.stop())

const TITLES = PAGES.map((page) => page.titles[0])
/** The page behind an entry that a level does not see. */
const BEHIND: Record<string, string> = {
  Scripts: '/script',
  'Audit log': '/api/audit',
  Secrets: '/secret',
}

for (const level of INVITED) {
  test(`a ${level} sees exactly the pages that the server allows`, async () => {
    const page = await world.page('/', { as: people[level]! })
    const links = page.getByRole('navigation').getByRole('link')
    const linkNames = async () =>
      (await links.allInnerTexts()).map((text) => text.split('\n')[0]!.trim()).sort()
    // From the documentation, not from the table of pages: a level that is removed there by
    // mistake must fail here.
    const names = TITLES.filter((title) => hasLevel(level, DOCUMENTED_LEVELS.get(title)!)).sort()
    await expect.poll(linkNames).toEqual(names)
    for (const [name, path] of Object.entries(BEHIND)) {
      const answer = await page.request.get(`${world.url}${path}?customer=acme`)
      expect([name, answer.status()]).toEqual([name, names.includes(name) ? 200 : 403])
    }
    const mayCreate = level === 'admin'
    expect(await page.getByRole('button', { name: 'New', exact: true }).count()).toBe(
      mayCreate ? 1 : 0,
    )
    await page.context().close()
  })
}

test('a member is invited, signs in with the link, and gets another level', async () => {
  const page = await world.page('/people')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.org')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog', { name: 'One-time link' })
  const link = await dialog.locator('code').innerText()
  await dialog.getByRole('button', { name: 'Close' }).click()
  const guest = await world.anonymousPage()
  await guest.goto(link)
  await guest.getByRole('textbox', { name: 'New password' }).fill('a password that is long')
  expect(guest.url()).not.toContain('bvl_')
  await guest.getByRole('button', { name: 'Accept' }).click()
  await guest.getByRole('navigation', { name: 'Automate' }).waitFor()
  await page.getByRole('combobox', { name: 'Level of grace' }).click()
  await page.getByRole('option', { name: 'manager' }).click()
  await until(async () => {
    const members = await world.api<any[]>('GET', '/api/member')
    return (
      members.find((member) => member.user.email === 'grace@example.org')?.credential === 'manager'
    )
  }, 'the other level')
  // The person that a manager invited becomes an admin: the manager's link must not work any more,
  // and the console shows the one that replaces it.
  const post = async (path: string, body: object, token = '') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(world.url + path, init)).json()) as any
  }
  const login = { email: 'grace@example.org', password: 'a password that is long' }
  const { access_token } = await post('/api/auth/login', login)
  const henry = { user: { email: 'henry@example.org' }, credential: 'user' }
  const first = (await post('/api/member', henry, access_token)).invitation.link
  await page.getByRole('combobox', { name: 'Level of henry' }).click()
  await page.getByRole('option', { name: 'admin' }).click()
  const second = await dialog.locator('code').innerText()
  expect(second).toContain('bvl_')
  expect(second).not.toBe(first)
  const invited = await world.anonymousPage()
  await invited.goto(first)
  await invited.getByText('This link was already used or has expired').waitFor()
  await invited.goto('about:blank')
  await invited.goto(second)
  await invited.getByRole('textbox', { name: 'New password' }).fill('a password that is long')
  await invited.getByRole('button', { name: 'Accept' }).click()
  await invited.getByRole('navigation', { name: 'Automate' }).waitFor()
})

test('a token is shown once, then only its prefix, and stops working when it is revoked', async () => {
  const page = await world.page('/settings/credentials')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByRole('textbox', { name: 'Program' }).fill('ci runner')
  await page.getByRole('button', { name: 'Create' }).click()
  const dialog = page.getByRole('dialog').filter({ hasText: 'Copy the token now' })
  const token = await dialog.locator('code').innerText()
  expect(token).toMatch(/^bvt_/)
  const asks = () => fetch(`${world.url}/task`, { headers: { authorization: `Bearer ${token}` } })
  expect((await asks()).status).toBe(200)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('ci runner').waitFor()
  const traces = await page.evaluate(
    () =>
      document.documentElement.outerHTML +
      JSON.stringify(localStorage) +
      JSON.stringify(sessionStorage) +
      location.href,
  )
  expect(traces).not.toContain(token)
  await page.getByRole('button', { name: 'Revoke: ci runner' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await until(async () => (await asks()).status === 401, 'the revoked token being refused')
})

test('the audit shows who made a change, and the values before and after it', async () => {
  const task = await world.script('audited', 'true\n')
  await world.api('PATCH', `/task/${task.id}`, { description: 'a new description' })
  const page = await world.page(`/audit?object_id=${task.id}`)
  const row = page.getByRole('button', { name: /task\.change/ }).first()
  await row.click()
  const table = page.getByRole('table', { name: 'Before and after' })
  await table.getByText('a new description').waitFor()
})

test('no secret is left in storage, and scripts cannot read the session cookie', async () => {
  const page = await world.page('/')
  const storage = await page.evaluate(() => ({
    cookie: document.cookie,
    kept: JSON.stringify(localStorage) + JSON.stringify(sessionStorage),
  }))
  expect(storage.cookie).toBe('')
  expect(storage.kept).not.toMatch(/bv[a-z]_/)
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
