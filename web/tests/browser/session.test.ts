import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CUSTOMER, OWNER } from './server'
import { picture, press, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

test('a wrong password is refused with a message', async () => {
  const page = await world.anonymousPage()
  await page.goto(`${world.url}/`)
  await page.getByLabel('E-mail or user name').fill(OWNER.email)
  await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  expect(page.url()).toContain('/ui/login')
})

test('a deep link leads to the sign-in page and back', async () => {
  const page = await world.anonymousPage()
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

test('a session that ends soon says so, and can be renewed in another tab', async () => {
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

test('the navigation opens every page by mouse and by keys', async () => {
  const page = await world.page('/')
  await press(page, 'g', 'j')
  await page.waitForURL(world.at('/jobs'))
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.waitForURL(`${world.url}/ui/${CUSTOMER}`)
  const observe = page.getByRole('navigation', { name: 'Observe' })
  await observe.getByRole('link', { name: 'Wall' }).click()
  await page.waitForURL(world.at('/wall'))
})

test('each first step is checked off when it is done, and the list disappears after the last', async () => {
  const page = await world.page('/')
  const steps = page.getByRole('region', { name: 'First steps' })
  const open = () => steps.getByRole('listitem').getByRole('link').allTextContents()
  const waitForOpen = async (labels: string[]) => {
    await steps.getByText(`${6 - labels.length} of 6 done`).waitFor()
    expect(await open()).toEqual(labels)
    expect(await steps.getByRole('img', { name: 'Done', exact: true }).count()).toBe(
      6 - labels.length,
    )
  }
  const run = 'Run a demo task, such as “Greet somebody”'
  const rest = ['Add a host', 'Set up notifications', 'Invite people']
  await waitForOpen([run, 'Write your own task', 'Schedule it', ...rest])
  await picture(page, 'first-steps')
  const [demo] = await world.api('GET', '/task?where[name]=Greet somebody')
  await world.api('POST', `/task/${demo.id}/job`, { task_arguments: ['Ada', 'en'] })
  await waitForOpen(['Write your own task', 'Schedule it', ...rest])
  const task = await world.script('Own task', '#!/bin/bash\ntrue\n')
  await waitForOpen(['Schedule it', ...rest])
  await world.api('POST', `/task/${task.id}/schedule`, { repeatEvery: '0 7 * * *' })
  await waitForOpen(rest)

  await removeDemo(page)
  await expect
    .poll(async () => (await world.api<{ name: string }[]>('GET', '/task')).map(({ name }) => name))
    .toEqual(['Own task'])
  await waitForOpen(rest)
  expect(await steps.getByRole('button', { name: 'Remove demo' }).count()).toBe(0)

  await steps.getByRole('button', { name: 'Hide first steps' }).click()
  await steps.waitFor({ state: 'detached' })
  expect((await world.api('GET', '/api/first-steps')).visible).toBe(false)
  await world.api('PUT', '/api/first-steps', { visible: true })
  await page.reload()
  await waitForOpen(rest)

  const { token } = await world.api('POST', '/api/enrolment', {})
  await world.api('POST', '/-/enrol', { token, hostname: 'second', fingerprint: 'f'.repeat(32) })
  await waitForOpen(['Set up notifications', 'Invite people'])
  const address = { name: 'Log', url: 'json://192.0.2.1/' }
  const channel = await world.api('POST', '/notify/channel', address)
  await world.api('POST', '/notify/rule', { name: 'All', channels: [channel.id] })
  await waitForOpen(['Invite people'])
  await world.member('viewer', 'second@example.org')
  await steps.waitFor({ state: 'detached' })
  const { visible, steps: all } = await world.api('GET', '/api/first-steps')
  expect([visible, all.every((step: { done: boolean }) => step.done)]).toEqual([false, true])
})

/** With the button of the first steps. */
async function removeDemo(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Remove demo' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Keep demo' }).waitFor()
  await picture(page, 'demo-remove')
  await dialog.getByRole('button', { name: 'Remove demo' }).click()
  await page.getByText(/^Removed: \d+ demo objects/).waitFor()
  await dialog.waitFor({ state: 'hidden' })
}

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
