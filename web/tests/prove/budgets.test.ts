import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, World } from '../browser/world'
import { fill } from './much-data'
import { performanceScore, type Vitals } from './score'

/** Lighthouse is not a dependency; this measures the same values in the same way: the first load
 * over a line of 10 Mbit/s with 40 ms latency, with an empty cache. */
let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
  await fill(world)
}, 900_000)
afterAll(() => world?.stop())

const MIN_SCORE = 90
const MAX_CLS = 0.05
const MAX_BYTES = 700_000
const LINE = { latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 }

/** The observers start with the document, before its first paint. */
function observe(): void {
  const vitals = { fcp: 0, lcp: 0, tbt: 0, cls: 0 }
  ;(window as any).vitals = vitals
  const on = (type: string, take: (entry: any) => void) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({
      type,
      buffered: true,
    })
  on('paint', (entry) => {
    if (entry.name === 'first-contentful-paint') vitals.fcp = entry.startTime
  })
  on('largest-contentful-paint', (entry) => {
    vitals.lcp = entry.startTime
  })
  on('longtask', (entry) => {
    vitals.tbt += Math.max(0, entry.duration - 50)
  })
  on('layout-shift', (entry) => {
    if (!entry.hadRecentInput) vitals.cls += entry.value
  })
}

async function measure(page: Page, path: string, row: string): Promise<Vitals & { bytes: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Network.emulateNetworkConditions', { offline: false, ...LINE })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.addInitScript(observe)
  await page.goto(world.at(path))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator(row).first().waitFor()
  await idle(page)
  return { ...(await page.evaluate(() => (window as any).vitals)), bytes }
}

/** Each page, and the text that it shows when its rows are loaded. */
const PAGES = [
  ['/', '.dash-mon'],
  ['/jobs', '[data-job]'],
  ['/monitors', '.mon-scroll .mon-row'],
] as const

test.each(PAGES)('%s loads quickly with much data', async (path, row) => {
  const page = await world.page('/settings/about', { fresh: true })
  const { bytes, ...vitals } = await measure(page, path, row)
  const score = performanceScore(vitals)
  const parts = Object.entries(vitals).map(([name, value]) => `${name} ${value.toFixed(3)}`)
  process.stdout.write(`${path}: score ${score.toFixed(0)}, ${parts.join(', ')}, ${bytes} bytes\n`)
  expect(vitals.cls).toBeLessThan(MAX_CLS)
  expect(bytes).toBeLessThan(MAX_BYTES)
  expect(score).toBeGreaterThanOrEqual(MIN_SCORE)
})
