import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, World } from '../browser/world'
import { fill, firstState, pushResult } from './much-data'

/** Not with the browser tests: each page is watched for minutes. */
let world: World
let pushUrls: string[]
let states: string[]
beforeAll(async () => {
  world = await World.start({ demo: false })
  pushUrls = await fill(world, 0)
  states = pushUrls.map((_, n) => firstState(n))
}, 300_000)
afterAll(() => world?.stop())

const MAX_BYTES = 20_000
const MINUTE_MS = 60_000
/** State changes a minute: none, and one of ten monitors. */
const CHANGES = [0, 21]
/** Each page, the text that it shows when its rows are loaded, and what it reads while it is open. */
const PAGES = [
  ['/', '.dash-mon', '/-/board/monitors/changes'],
  ['/monitors', '.mon-scroll .mon-row', '/-/board/monitors/changes'],
  ['/hosts', '.host-row', '/-/board/hosts/changes'],
] as const
const CASES = CHANGES.flatMap((count) => PAGES.map((page) => [count, ...page] as const))

test.each(CASES)('%i changes: %s transfers under 20 kB a minute', async (count, path, row, url) => {
  const page = await world.page(path, { fresh: true })
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await page.locator(row).first().waitFor()
  await idle(page)
  await page.waitForLoadState('networkidle').catch(() => {})
  const bytes = await countBytes(page)
  await pushForAMinute(count)
  const reads = JSON.stringify(bytes.urls)
  process.stdout.write(`${path}, ${count} changes: ${bytes.sum} bytes a minute: ${reads}\n`)
  expect(bytes.urls[url], reads).toBeGreaterThan(0)
  expect(bytes.sum, reads).toBeLessThan(MAX_BYTES)
  await page.close()
})

/** One result of every monitor, evenly distributed over a minute; as many of them change a state. */
async function pushForAMinute(count: number): Promise<void> {
  const begin = Date.now()
  for (const [n, url] of pushUrls.entries()) {
    const due = begin + (MINUTE_MS * (n + 1)) / pushUrls.length
    await new Promise((done) => setTimeout(done, Math.max(0, due - Date.now())))
    if (n % 10 === 0 && n < 10 * count) states[n] = opposite(states[n]!)
    await pushResult(url, states[n]!)
  }
}

const opposite = (state: string) => (state === 'normal' ? 'failure' : 'normal')

/** Bytes that are received from now on, with headers. */
async function countBytes(page: Page) {
  const session = await page.context().newCDPSession(page)
  const bytes = { sum: 0, urls: {} as Record<string, number> }
  const names = new Map<string, string>()
  await session.send('Network.enable')
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    names.set(requestId, new URL(request.url).pathname)
  })
  const add = (name: string, count: number) => {
    bytes.sum += count
    bytes.urls[name] = (bytes.urls[name] ?? 0) + count
  }
  session.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    // It began before the count and ends after it.
    if (!names.has(requestId)) add('stream', encodedDataLength)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (names.has(requestId)) add(names.get(requestId)!, encodedDataLength)
  })
  return bytes
}
