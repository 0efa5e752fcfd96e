import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from './world'

let world: World
let hostId: string

/** A host whose agent never connected, enrolled long ago, with a monitor on it. */
beforeAll(async () => {
  world = await World.start({ demo: false, agent: false })
  const { token } = await world.api('POST', '/api/enrolment', {})
  const host = { hostname: 'edge-9', fingerprint: 'edge-9', token }
  hostId = (await world.api('POST', '/-/enrol', host)).host_id
  const monitor = { name: 'Shop', type: 'scraper', host_id: hostId, url: 'http://127.0.0.1:9/' }
  const { id } = await world.api('POST', '/monitor', monitor)
  const parts = [{ name: 'Shop', monitor_id: id }]
  await world.api('POST', '/statuspage', { title: 'Acme', slug: 'acme', parts })
  await world.server.kill()
  const database = join(world.server.folder, 'data', 'belvedere.db')
  const change = `import sqlite3
with sqlite3.connect(${JSON.stringify(database)}) as database:
    database.execute("update hosts set created_at = created_at - 600000")`
  execFileSync('python3', ['-c', change])
  await world.server.run()
})
afterAll(() => world.stop())

test('an offline host is announced on every page, in the navigation and in the title', async () => {
  const page = await world.page('/')
  const banner = page.getByRole('alert').filter({ hasText: '1 host is offline' })
  await banner.getByRole('link', { name: 'edge-9' }).waitFor()
  await page
    .getByRole('navigation', { name: 'Observe' })
    .getByRole('link', { name: /^Hosts/ })
    .getByText('1', { exact: true })
    .waitFor()
  await expect.poll(() => page.title()).toMatch(/^\(\d!\) · /)
  const icon = page.locator('link[rel="icon"]')
  const count = /\((\d)!\)/.exec(await page.title())![1]
  await expect
    .poll(async () => decodeURIComponent((await icon.getAttribute('href'))!))
    .toContain(`>${count}</text>`)
  await page
    .getByRole('region', { name: 'Problems' })
    .getByRole('link', { name: /^edge-9/ })
    .waitFor()
  await page.getByText('No approvals or questions are waiting for you.').waitFor()
  expect(await page.getByText(/^Nothing/).count()).toBe(0)
  await page.goto(world.at('/tasks'))
  await banner.waitFor()
})

test('a monitor that is not checked looks like a problem, not like a pause', async () => {
  const page = await world.page('/monitors')
  const row = page.getByRole('row').filter({ hasText: 'Shop' })
  await row.getByText(/^Not checked: host offline ·/).waitFor()
  expect(await row.locator('svg [stroke="var(--st-lost)"]').count()).toBeGreaterThan(0)
  await row.getByRole('link', { name: 'Shop' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /^Not checked: host offline/ })
    .waitFor()
})

test('the host is red', async () => {
  const page = await world.page('/hosts')
  const icon = page.locator('[data-host="edge-9"]').getByRole('img', { name: 'Offline' }).first()
  await icon.locator('[fill="var(--st-fail)"]').waitFor()
})

test('the wall and the status page do not look healthy', async () => {
  const page = await world.page('/')
  await page.goto(world.at('/wall'))
  await page.getByRole('alert').filter({ hasText: '1 host is offline' }).waitFor()
  expect(await page.getByText('All up and running').count()).toBe(0)
  const visitor = await world.anonymousPage()
  await visitor.goto(`${world.url}/ui/status/acme`)
  await visitor.locator('.status-banner[data-look="lost"]').waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
