import { afterAll, beforeAll, expect, test } from 'vitest'
import { CUSTOMER, OWNER } from './server'
import { press, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

test('a wrong password is told and lets nobody in', async () => {
  const page = await world.stranger()
  await page.goto(`${world.url}/`)
  await page.getByLabel('E-mail or user name').fill(OWNER.email)
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  expect(page.url()).toContain('/ui/login')
})

test('a deep link leads through the sign-in and back', async () => {
  const page = await world.stranger()
  await page.goto(world.at('/jobs?state=failure'))
  await page.getByLabel('E-mail or user name').fill(OWNER.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(world.at('/jobs?state=failure'))
  await page.reload()
  await page.getByRole('navigation', { name: 'Automate' }).waitFor()
})

test('signing out ends the session', async () => {
  const page = await world.page('/')
  await page.getByRole('button', { name: /Account$/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/ui\/login/)
  await page.goto(world.at('/'))
  await page.waitForURL(/\/ui\/login/)
})

test('the navigation goes to every page by mouse and by keys', async () => {
  const page = await world.page('/')
  await press(page, 'g', 'j')
  await page.waitForURL(world.at('/jobs'))
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.waitForURL(`${world.url}/ui/${CUSTOMER}`)
})

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
