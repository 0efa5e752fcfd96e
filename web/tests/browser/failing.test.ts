import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from './world'

let world: World
/** A web server that a test can switch between up and down. */
let site: HttpServer
let isUp = true
beforeAll(async () => {
  world = await World.start({ demo: false })
  site = createServer((_ask, answer) => {
    answer.writeHead(isUp ? 200 : 500).end('hello')
  })
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
  const { port } = site.address() as AddressInfo
  const host = await world.host()
  const all = { type: 'scraper', host_id: host.id, looptime: 1000, fail_threshold: 1 }
  for (const [name, url] of [
    ['Archive', `${world.url}/-/health`],
    ['Shop', `http://127.0.0.1:${port}/`],
  ])
    await world.api('POST', '/monitor', { ...all, name, url })
})
afterAll(async () => {
  site.close()
  await world.stop()
})

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
/** The first row below the heading. */
const top = (page: Page) => page.locator('[role="row"][aria-rowindex="2"]')
/** The icon of the browser's tab. */
const icon = (page: Page) =>
  page
    .locator('link[rel="icon"]')
    .evaluate((link: HTMLLinkElement) => decodeURIComponent(link.href))
const badge = (page: Page) =>
  page.getByRole('navigation', { name: 'Observe' }).getByRole('link', { name: /^Monitors/ })

test('a monitor that fails moves to the top, is counted, and appears in the inbox', async () => {
  // A second attempt begins like the first.
  isUp = true
  await world.api('PUT', '/notification/read')
  const page = await world.page('/monitors')
  const inbox = await world.page('/inbox')
  /** What the page reads while it is watched: only changes, and rows by their ids. */
  const reads: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    // A row is read by its id when its first value arrives.
    const isRow = searchParams.has('where[id][$in][]')
    if (pathname.startsWith('/-/board/') && !isRow) reads.push(pathname)
  })
  await page.locator('[role="row"][data-state="normal"]', { hasText: 'Shop' }).waitFor()
  await top(page).getByRole('link', { name: 'Archive' }).waitFor()
  await expect.poll(() => page.title()).toBe('Monitors · Belvedere')
  isUp = false
  await top(page).getByRole('link', { name: 'Shop' }).waitFor()
  await page.locator('[role="row"][data-state="failure"]', { hasText: 'Shop' }).waitFor()
  // A failed check has its own shape, not only a colour.
  await row(page, 'Shop').locator('svg g[fill="var(--st-fail)"] rect').nth(1).waitFor()
  await badge(page).getByText('1', { exact: true }).waitFor()
  await expect.poll(() => page.title()).toBe('(1!) · Monitors · Belvedere')
  await expect.poll(() => icon(page)).toContain('>1</text>')
  await inbox.getByRole('link', { name: 'Shop fails' }).waitFor()
  await expect.poll(() => inbox.title()).toBe('(1!) · Inbox · Belvedere')

  isUp = true
  await top(page).getByRole('link', { name: 'Archive' }).waitFor()
  await expect.poll(() => page.title()).toBe('Monitors · Belvedere')
  await expect.poll(() => icon(page)).toMatch(/favicon\.svg$/)
  await badge(page).getByText('1', { exact: true }).waitFor({ state: 'detached' })
  await inbox.getByRole('link', { name: 'Shop is normal again' }).waitFor()
  expect([...new Set(reads)]).toEqual(['/-/board/monitors/changes'])
})

test('a service that has never responded is down and red after its first check', async () => {
  const host = await world.host()
  // Nothing listens on that port; after a success three failures would be needed.
  const target = { target: '127.0.0.1', port: 9 }
  const fields = { name: 'Mail', type: 'tcp', host_id: host.id, looptime: 600_000 }
  const monitor = await world.api('POST', '/monitor', { ...fields, config: target })
  expect(monitor.failure_severity).toBe('HIGH')
  const page = await world.page('/monitors')
  const mail = page.locator('[role="row"][data-state="failure"]', { hasText: 'Mail' })
  await mail.getByRole('img', { name: 'Down' }).waitFor()
  expect(await mail.locator('svg path[fill="var(--st-fail)"]').count()).toBe(1)
  await page.getByRole('link', { name: 'Mail', exact: true }).click()
  await page.getByRole('status').filter({ hasText: /^Down/ }).waitFor()
  await world.api('DELETE', `/monitor/${monitor.id}`)
})

test('a failure of a service is severe unless the form is changed', async () => {
  const page = await world.page('/monitors')
  for (const kind of ['scraper', 'tcp', 'ping', 'tls', 'dns']) {
    await page.goto(world.at(`/monitors/new?kind=${kind}`))
    await page.getByRole('button', { name: /^Checks and severity.*high severity/ }).waitFor()
  }
})

test('opening an alert marks it as read', async () => {
  const page = await world.page('/inbox')
  const earlier = page.getByRole('button', { name: /^\d+ earlier alert/ }).first()
  await earlier.click()
  await page.getByRole('link', { name: 'Shop fails' }).click()
  await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Shop is normal again' }).waitFor()
  await page.getByRole('link', { name: 'Shop fails' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByText('Nothing new.').waitFor()
  await page.getByText('All', { exact: true }).click()
  await earlier.click()
  await page.getByRole('link', { name: 'Shop fails' }).first().waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
