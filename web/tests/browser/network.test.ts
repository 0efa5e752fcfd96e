import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Front } from './front'
import { CUSTOMER, OWNER } from './server'
import { World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

const PAGES = ['/', '/inbox', '/monitors', '/hosts', '/tasks', '/workflows', '/jobs', '/settings']

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail or user name').fill(OWNER.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** A window before another address than the server's own, and what it asks for. */
async function windowAt(front: Front): Promise<{ page: Page; asked: string[] }> {
  const context = await world.browser.newContext()
  // A buffer is only noticed after a while.
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.goto(`${front.url}/`)
  return { page, asked }
}

test('under a prefix everything is found, and nothing beside it is asked for', async () => {
  const front = await Front.start(world.url, { prefix: '/tools/belvedere' })
  const { page, asked } = await windowAt(front)
  await signIn(page)
  await page.waitForURL(`${front.url}/ui/${CUSTOMER}`)
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await page.goto(`${front.url}/ui/${CUSTOMER}/settings/about`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.waitForURL(`${front.url}/ui/${CUSTOMER}`)
  await world.api('POST', '/indicator', { title: 'Under a prefix', type: 'text', value: 'x' })
  await page.getByText('Under a prefix').waitFor()
  expect(asked.filter((url) => !url.startsWith(`${front.url}/`))).toEqual([])
  await page.context().close()
  await front.stop()
})

test('behind a proxy that buffers the page looks by itself', async () => {
  const front = await Front.start(world.url, { buffers: true })
  const { page } = await windowAt(front)
  await signIn(page)
  await page.getByRole('status', { name: 'Polling' }).waitFor()
  await world.api('POST', '/indicator', { title: 'Behind a buffer', type: 'text', value: 'x' })
  await page.getByText('Behind a buffer').waitFor()
  await page.context().close()
  await front.stop()
}, 150_000)

test('no page breaks the policy, and a script that is slipped in does not run', async () => {
  const page = await world.page('/')
  await page.addInitScript(() => {
    const broken: string[] = []
    Object.assign(window, { broken })
    document.addEventListener('securitypolicyviolation', (event) =>
      broken.push(`${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  const broken = () => page.evaluate(() => (window as unknown as { broken: string[] }).broken)
  for (const path of PAGES) {
    await page.goto(world.at(path))
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await broken(), path).toEqual([])
  }
  await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'document.title = "taken over"'
    document.body.append(script)
  })
  await expect.poll(broken).toEqual(['script-src-elem inline'])
  expect(await page.title()).not.toBe('taken over')
})

test('a second visit fetches no asset again', async () => {
  const page = await world.page('/')
  await page.getByRole('status', { name: 'Live' }).waitFor()
  const known = new Set((await assets(page)).map((one) => one.name))
  expect(known.size).toBeGreaterThan(3)
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  const again = await assets(page)
  expect(again.filter((one) => known.has(one.name) && one.size > 0)).toEqual([])
  expect(again.some((one) => known.has(one.name))).toBe(true)
})

test('the first page is a few files and not large', async () => {
  const page = await world.page('/')
  await page.getByRole('status', { name: 'Live' }).waitFor()
  const all = await assets(page)
  // With the font, packed by gzip.
  expect(all.reduce((sum, one) => sum + one.size, 0)).toBeLessThan(350_000)
  expect(all.length).toBeLessThan(50)
})

/** What has arrived of the application, and how many bytes of it came over the network. */
function assets(page: Page): Promise<{ name: string; size: number }[]> {
  return page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter((entry) => entry.name.includes('/assets/') && entry.responseEnd > 0)
      .map((entry) => ({ name: entry.name, size: entry.transferSize })),
  )
}

test('no page sinned', () => {
  expect(world.sins.filter((sin) => !sin.includes('Content Security Policy'))).toEqual([])
})
