import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, World } from '../browser/world'
import { fill, many, pushResult } from './much-data'

/** Here and not beside the browser tests: each page is watched for a minute. */
let world: World
let pushUrls: string[]
beforeAll(async () => {
  world = await World.start({ demo: false })
  pushUrls = await fill(world, 0)
  // Then no result changes a state any more: each change of a state costs about 5 kB.
  for (let round = 0; round < ROUNDS_UNTIL_FAILURE; round++)
    await many(pushUrls.length, (n) => pushResult(pushUrls[n]!, n))
}, 300_000)
afterAll(() => world?.stop())

const MAX_BYTES = 20_000
const ROUNDS_UNTIL_FAILURE = 3
const MINUTE_MS = 60_000
/** Each page, the text that it shows when its rows are loaded, and what it reads while it is open. */
const PAGES = [
  ['/', '.dash-mon', '/-/board/monitors/changes'],
  ['/monitors', '.mon-scroll .mon-row', '/-/board/monitors/changes'],
  ['/hosts', '.host-row', '/-/board/hosts/changes'],
] as const

test.each(PAGES)('%s transfers less than 20 kB a minute', async (path, row, changes) => {
  const page = await world.page(path)
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await page.locator(row).first().waitFor()
  await idle(page)
  await page.waitForLoadState('networkidle').catch(() => {})
  const bytes = await countBytes(page)
  await pushForAMinute()
  const reads = JSON.stringify(bytes.urls)
  process.stdout.write(`${path}: ${bytes.sum} bytes a minute (< ${MAX_BYTES}): ${reads}\n`)
  expect(bytes.urls[changes], reads).toBeGreaterThan(0)
  expect(bytes.sum, reads).toBeLessThan(MAX_BYTES)
})

/** One result of every monitor, evenly distributed over a minute. */
async function pushForAMinute(): Promise<void> {
  const begin = Date.now()
  for (const [n, url] of pushUrls.entries()) {
    const due = begin + (MINUTE_MS * (n + 1)) / pushUrls.length
    await new Promise((done) => setTimeout(done, Math.max(0, due - Date.now())))
    await pushResult(url, n)
  }
}

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
