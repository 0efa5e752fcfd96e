import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, World } from '../browser/world'

/** Here and not beside the browser tests: real checks of a busy machine would be counted too. */
let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
}, 120_000)
afterAll(() => world.stop())

const MONITORS = 207

test('a dashboard that is only watched transfers less than 20 kB a minute', async () => {
  for (let n = 0; n < MONITORS; n += 23)
    await Promise.all(
      Array.from({ length: 23 }, (_, i) =>
        world.api('POST', '/monitor', { name: `Push ${n + i}`, type: 'push' }),
      ),
    )
  const page = await world.page('/tasks')
  await page.clock.install()
  await page.goto(world.at('/'))
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await page.getByRole('link', { name: /All 2\d\d monitors/ }).waitFor()
  await page.clock.runFor(5_000)
  await idle(page)
  const bytes = await countBytes(page)
  for (let quarter = 0; quarter < 4; quarter++) {
    await page.clock.runFor(15_000)
    await idle(page)
  }
  await page.waitForLoadState('networkidle').catch(() => {})
  expect(bytes.urls['/-/board/monitors']).toBeGreaterThan(0)
  expect(bytes.sum, JSON.stringify(bytes.urls)).toBeLessThan(20_000)
})

/** Bytes on the wire from now on, with headers. */
async function countBytes(page: Page) {
  const session = await page.context().newCDPSession(page)
  const bytes = { sum: 0, urls: {} as Record<string, number> }
  const names = new Map<string, string>()
  await session.send('Network.enable')
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    names.set(requestId, new URL(request.url).pathname)
  })
  session.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    // A stream ends after the test.
    if (!names.has(requestId)) bytes.sum += encodedDataLength
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const name = names.get(requestId) ?? 'stream'
    bytes.sum += encodedDataLength
    bytes.urls[name] = (bytes.urls[name] ?? 0) + encodedDataLength
  })
  return bytes
}
