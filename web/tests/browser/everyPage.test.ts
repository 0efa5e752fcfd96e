import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyPage } from './every-page'
import { idle, World } from './world'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let world: World
/** Every page of the console, with a record where it needs one. */
let pages: string[]
beforeAll(async () => {
  world = await World.start()
  pages = await everyPage(world)
})
afterAll(() => world.stop())

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const COLOURS = ['color-contrast', 'link-in-text-block']

/** Only violations that remain on a second look: a colour may still have been changing. */
async function faults(page: Page, rules: string[]): Promise<string[]> {
  const first = await violationsOn(page, rules)
  if (!first.length) return first
  await idle(page)
  return violationsOn(page, rules)
}

async function violationsOn(page: Page, runOnly: string[]): Promise<string[]> {
  const violations = await page.evaluate(async (runOnly) => {
    const options = { runOnly, resultTypes: ['violations'] }
    return (await (window as any).axe.run(document, options)).violations
  }, runOnly)
  return (violations as Violation[]).flatMap((violation) =>
    violation.nodes.map(
      (node) => `${violation.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`,
    ),
  )
}

/** Waits until all requests are answered, and the page is drawn in its final colours. */
async function waitUntilSettled(page: Page, scheme: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction((length) => {
    const words = document.querySelector('main')?.textContent?.trim() ?? ''
    const { mantineColorScheme: scheme } = document.documentElement.dataset
    const busy = document.querySelector('[aria-busy="true"], .mantine-Skeleton-root')
    return words.length > 5 && scheme === length && !busy
  }, scheme)
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  )
}

/**
 * Wide and narrow pages have different elements, so each is checked by all rules; a theme changes
 * only colours, so the second theme is checked for contrast, at one width.
 */
const LOOKS = [
  { scheme: 'light', width: 1440, rules: ALL },
  { scheme: 'dark', width: 1440, rules: COLOURS },
  { scheme: 'dark', width: 390, rules: ALL },
] as const

async function look(page: Page, { scheme, width, rules }: (typeof LOOKS)[number]) {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme: scheme })
  await waitUntilSettled(page, scheme)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  const violations = await faults(page, [...rules])
  const all = wide > width ? [`${wide} px wide`, ...violations] : violations
  return all.map((fault) => `${scheme}, ${width} px: ${fault}`)
}

test('every page passes axe in both themes and does not scroll sideways, wide and narrow', {
  timeout: 900_000,
}, async () => {
  const page = await world.page('/', { reducedMotion: 'reduce' })
  const bad: string[] = []
  for (const path of pages) {
    await page.goto(world.at(path))
    await page.evaluate(AXE)
    for (const variant of LOOKS) {
      const problems = await look(page, variant).catch((fault) => [String(fault.message)])
      bad.push(...problems.map((fault) => `${path}, ${fault}`))
    }
  }
  expect(bad).toEqual([])
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
