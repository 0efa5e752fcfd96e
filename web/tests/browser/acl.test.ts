import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, World } from './world'

let world: World
let uma: Person
let vic: Person
let id: string
beforeAll(async () => {
  world = await World.start({ demo: false, agent: false })
  uma = await world.member('user')
  vic = await world.member('viewer')
  id = (await world.api('POST', '/indicator', { title: 'Guarded', type: 'text' })).id
})
afterAll(() => world.stop())

const drawer = (page: Page) => page.getByRole('dialog', { name: 'Access to Guarded' })
const named = async () => (await world.api('GET', `/indicator/${id}/acl`)).users.sort()

const sees = async (person: Person) =>
  (await world.request('GET', `/indicator/${id}`, undefined, person)).status

test('people are added, removed, replaced and cleared in the drawer', async () => {
  const page = await world.page(`/indicators/${id}`)
  await page.getByRole('button', { name: 'Change access' }).click()
  await drawer(page).getByText('only managers and admins can see it').waitFor()
  expect([await sees(uma), await sees(vic)]).toEqual([404, 404])

  const field = drawer(page).getByRole('combobox', { name: 'Add people or tags' })
  for (const email of [uma.email, vic.email]) {
    await field.fill(email)
    await page.keyboard.press('Enter')
  }
  await drawer(page).getByRole('button', { name: 'Add', exact: true }).click()
  await drawer(page).getByText('may see it, on the access list').nth(1).waitFor()
  await expect.poll(named).toEqual([uma.email, vic.email])
  expect([await sees(uma), await sees(vic)]).toEqual([200, 200])

  await drawer(page)
    .getByRole('button', { name: `Remove ${vic.email}` })
    .click()
  await expect.poll(named).toEqual([uma.email])
  expect([await sees(uma), await sees(vic)]).toEqual([200, 404])

  await drawer(page).getByRole('button', { name: 'Edit as text' }).click()
  const text = drawer(page).getByLabel('One person or tag per line')
  expect(await text.inputValue()).toBe(uma.email)
  await text.fill(`${vic.email}\n\n${vic.email}\n`)
  await drawer(page).getByRole('button', { name: 'Replace' }).click()
  await expect.poll(named).toEqual([vic.email])
  expect([await sees(uma), await sees(vic)]).toEqual([404, 200])

  await drawer(page).getByRole('button', { name: 'Remove all' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove everyone from the list?' })
  await dialog.getByRole('button', { name: 'Remove all' }).click()
  await drawer(page).getByText('only managers and admins can see it').waitFor()
  await expect.poll(named).toEqual([])
})

test('an address that no member has is shown as pending', async () => {
  const acl = ['later@example.org', uma.email]
  const body = { title: 'Awaited', type: 'text', acl }
  const { id: awaited } = await world.api('POST', '/indicator', body)
  const page = await world.page(`/indicators/${awaited}`)
  await page.getByRole('button', { name: 'Change access' }).click()
  const list = page.getByRole('dialog', { name: 'Access to Awaited' })
  await list.getByText('later@example.org (pending)').waitFor()
  await list.getByText('takes effect when a member with that address joins').waitFor()
  expect(await list.getByText(`${uma.email} (pending)`).count()).toBe(0)
  await list.getByRole('button', { name: 'Remove later@example.org' }).click()
  await list.getByText('later@example.org (pending)').waitFor({ state: 'detached' })
})

test('each change of an access list is recorded in the audit', async () => {
  const page = await world.page(`/audit?object_id=${id}`)
  const rows = page.getByRole('button', { name: /acl/ })
  await rows.nth(3).waitFor()
  await rows.first().click()
  const table = page.getByRole('table', { name: 'Before and after' })
  await table.getByText(vic.email).first().waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
