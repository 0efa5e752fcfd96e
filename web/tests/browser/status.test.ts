import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

test('an admin makes a page, and anybody reads it', async () => {
  const page = await world.page('/status')
  await page.getByRole('link', { name: 'New status page' }).click()
  await page.getByLabel('Title').fill('Acme is up')
  await page.getByLabel('Address').fill('acme')
  await page.getByRole('combobox', { name: 'Which' }).click()
  await page.getByRole('option', { name: 'This server' }).click()
  await page.getByLabel('Name for visitors').fill('Web shop')
  await page.getByLabel('Group').fill('Front')
  await page.getByRole('button', { name: 'Create status page' }).click()
  await page.getByRole('heading', { name: 'Share' }).waitFor()
  const markdown = await page.locator('.copy-field code', { hasText: '[![Acme is up]' }).innerText()

  const stranger = await world.stranger()
  await stranger.goto(`${world.url}/ui/status/acme`)
  await stranger.getByRole('heading', { level: 1, name: 'Acme is up' }).waitFor()
  await stranger.getByRole('img', { name: 'Web shop: the last 90 days' }).waitFor()
  expect(await stranger.locator('.status-days > span').count()).toBe(90)
  // What it is called inside stays inside.
  const text = await stranger.locator('body').innerText()
  expect(text).not.toContain('This server')
  const badge = /\]\((\S+badge\.svg)\)/.exec(markdown)![1]!
  expect(await (await stranger.request.get(badge)).text()).toContain('<svg')
})

test('a page that is switched off, or was never there, says so', async () => {
  const [made] = await world.api<{ id: string }[]>('GET', '/statuspage')
  const page = await world.page(`/status/${made!.id}`)
  await page.getByRole('switch', { name: 'Visible to everyone' }).uncheck()
  await page.keyboard.press('Control+s')
  await page.getByText('Saved', { exact: true }).waitFor()
  // The server remembers for some seconds what it has told strangers.
  await until(async () => (await fetch(`${world.url}/-/status/acme`)).status === 404, 'its end')
  const stranger = await world.stranger()
  await stranger.goto(`${world.url}/ui/status/acme`)
  await stranger.getByText('Status page not found').waitFor()
})

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
