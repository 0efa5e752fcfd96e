import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ReverseProxy } from './reverseProxy'
import { CUSTOMER, OWNER } from './server'
import { forward, PATIENCE_MS, World } from './world'

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

/** A page at the address of a proxy, and its requests. */
async function windowAt(proxy: ReverseProxy): Promise<{ page: Page; requests: string[] }> {
  const context = await world.browser.newContext()
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.clock.install()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(`${proxy.url}/`)
  return { page, requests }
}

test('under a prefix all pages work, and no request leaves the prefix', async () => {
  const proxy = await ReverseProxy.start(world.url, { prefix: '/tools/belvedere' })
  const { page, requests } = await windowAt(proxy)
  await signIn(page)
  await page.waitForURL(`${proxy.url}/ui/${CUSTOMER}`)
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await page.goto(`${proxy.url}/ui/${CUSTOMER}/settings/about`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await page.waitForURL(`${proxy.url}/ui/${CUSTOMER}`)
  await world.api('POST', '/indicator', { title: 'Under a prefix', type: 'text', value: 'x' })
  await page.getByText('Under a prefix').waitFor()
  expect(requests.filter((url) => !url.startsWith(`${proxy.url}/`))).toEqual([])
  await page.context().close()
  await proxy.stop()
})

test('behind a proxy that buffers streams the page polls', async () => {
  const proxy = await ReverseProxy.start(world.url, { buffers: true })
  const { page } = await windowAt(proxy)
  await signIn(page)
  // The page detects a buffering proxy only after a timeout.
  await forward(page, page.getByRole('status', { name: 'Polling' }))
  await world.api('POST', '/indicator', { title: 'Behind a buffer', type: 'text', value: 'x' })
  await forward(page, page.getByText('Behind a buffer'))
  await page.context().close()
  await proxy.stop()
})

test('no page violates the content security policy, and an injected script does not run', async () => {
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
  const cached = new Set((await assets(page)).map((asset) => asset.name))
  expect(cached.size).toBeGreaterThan(3)
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  const again = await assets(page)
  expect(again.filter((asset) => cached.has(asset.name) && asset.size > 0)).toEqual([])
  expect(again.some((asset) => cached.has(asset.name))).toBe(true)
})

test('the first page loads few files and few bytes', async () => {
  const page = await world.page('/', { fresh: true })
  await page.getByRole('status', { name: 'Live' }).waitFor()
  const all = await assets(page)
  // With the font, packed by gzip.
  const bytes = all.reduce((sum, asset) => sum + asset.size, 0)
  expect(bytes).toBeLessThan(350_000)
  // Nothing came from a cache.
  expect(bytes).toBeGreaterThan(100_000)
  expect(all.length).toBeLessThan(50)
})

/** The loaded files of the application, and how many bytes came over the network. */
function assets(page: Page): Promise<{ name: string; size: number }[]> {
  return page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter((entry) => entry.name.includes('/assets/') && entry.responseEnd > 0)
      .map((entry) => ({ name: entry.name, size: entry.transferSize })),
  )
}

test('no page logged an error or called another host', () => {
  expect(world.pageErrors.filter((error) => !error.includes('Content Security Policy'))).toEqual([])
})
