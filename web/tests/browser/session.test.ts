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

test('a session that ends soon says so, and is followed by a new one beside the page', async () => {
  const page = await world.page('/')
  const soon = new Date(Date.now() + 5 * 60_000).toISOString()
  let isOld = true
  await page.route('**/api/session/profile*', async (route) => {
    if (!isOld) return route.continue()
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), expires: soon } })
  })
  await page.reload()
  const notice = page.getByRole('alert').filter({ hasText: 'Your session ends at' })
  const [beside] = await Promise.all([
    page.context().waitForEvent('page'),
    notice.getByRole('link', { name: 'Sign in again' }).click(),
  ])
  await beside.getByLabel('E-mail or user name').fill(OWNER.email)
  await beside.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  await beside.getByRole('button', { name: 'Sign in' }).click()
  await beside.waitForURL(world.at('/'))
  isOld = false
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await notice.waitFor({ state: 'hidden' })
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
