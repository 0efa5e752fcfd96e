import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, World } from './world'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let world: World
/** Every page of the console, with a record where it needs one. */
let pages: string[]
beforeAll(async () => {
  world = await World.start()
  const first = async (path: string) =>
    (await world.api<{ id: string; name?: string }[]>('GET', path))[0]!.id
  const tasks = await world.api<{ id: string; name: string }[]>('GET', '/task')
  const count = tasks.find((task) => task.name === 'Count slowly')!
  const job = await world.api('POST', '/job', { task: count.id })
  const [task, indicator, schedule, workflow, monitor, host, webhook, script] = [
    count.id,
    await first('/indicator'),
    await first('/schedule'),
    await first('/workflows'),
    await first('/monitor'),
    await first('/host'),
    await first('/webhook'),
    await first('/script'),
  ]
  pages = [
    '/',
    '/inbox',
    '/monitors',
    '/monitors/new',
    '/monitors/new?kind=scraper',
    `/monitors/${monitor}`,
    `/monitors/${monitor}/history`,
    `/monitors/${monitor}/settings`,
    '/hosts',
    '/hosts/add',
    `/hosts/${host}`,
    '/indicators',
    '/indicators/new',
    `/indicators/${indicator}`,
    `/indicators/${indicator}/edit`,
    '/status',
    '/status/new',
    '/tasks',
    '/tasks/new',
    `/tasks/${task}`,
    `/tasks/${task}/triggers`,
    `/tasks/${task}/jobs`,
    `/tasks/${task}/access`,
    `/tasks/${task}/api`,
    `/tasks/${task}/history`,
    '/workflows',
    '/workflows/new',
    `/workflows/${workflow}`,
    `/workflows/${workflow}/graph?edit=true`,
    `/workflows/${workflow}/graph?table=true`,
    `/workflows/${workflow}/jobs`,
    `/workflows/${workflow}/triggers`,
    `/workflows/${workflow}/settings`,
    '/jobs',
    `/jobs/${job.id}`,
    `/jobs/${job.id}/result`,
    `/jobs/${job.id}/input`,
    `/jobs/${job.id}/json`,
    '/schedules',
    '/schedules/new',
    `/schedules/${schedule}`,
    '/webhooks',
    '/webhooks/new',
    `/webhooks/${webhook}`,
    '/scripts',
    '/scripts/new',
    `/scripts/${script}`,
    '/secrets',
    '/people',
    '/audit',
    '/settings/organization',
    '/settings/credentials',
    '/settings/notifications',
    '/settings/retention',
    '/settings/appearance',
    '/settings/security',
    '/settings/about',
    '/wall',
  ]
})
afterAll(() => world.stop())

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const COLOURS = ['color-contrast', 'link-in-text-block']

/** What is still there on a second look: a colour may have been on its way to another. */
async function faults(page: Page, rules: string[]): Promise<string[]> {
  const first = await found(page, rules)
  if (!first.length) return first
  await idle(page)
  return found(page, rules)
}

async function found(page: Page, runOnly: string[]): Promise<string[]> {
  const violations = await page.evaluate(async (runOnly) => {
    const options = { runOnly, resultTypes: ['violations'] }
    return (await (window as any).axe.run(document, options)).violations
  }, runOnly)
  return (violations as Violation[]).flatMap((one) =>
    one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  )
}

/** Everything that was asked for is there, in its colours, and drawn. */
async function settled(page: Page, scheme: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction((wanted) => {
    const words = document.querySelector('main')?.textContent?.trim() ?? ''
    const { mantineColorScheme: scheme } = document.documentElement.dataset
    const busy = document.querySelector('[aria-busy="true"], .mantine-Skeleton-root')
    return words.length > 5 && scheme === wanted && !busy
  }, scheme)
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  )
}

/** A theme changes colours and nothing else, so the second one is asked for these only. */
const LOOKS = [
  { scheme: 'light', width: 1440, rules: ALL },
  { scheme: 'dark', width: 1440, rules: COLOURS },
  { scheme: 'dark', width: 390, rules: ALL },
  { scheme: 'light', width: 390, rules: COLOURS },
] as const

async function look(page: Page, { scheme, width, rules }: (typeof LOOKS)[number]) {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme: scheme })
  await settled(page, scheme)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  const found = await faults(page, [...rules])
  const all = wide > width ? [`${wide} px wide`, ...found] : found
  return all.map((fault) => `${scheme}, ${width} px: ${fault}`)
}

test('every page in both themes, wide and narrow: nothing for axe to find, no sideways scroll', {
  timeout: 900_000,
}, async () => {
  const page = await world.page('/', { reducedMotion: 'reduce' })
  const bad: string[] = []
  for (const path of pages) {
    await page.goto(world.at(path))
    await page.evaluate(AXE)
    for (const one of LOOKS) {
      const said = await look(page, one).catch((fault) => [String(fault.message)])
      bad.push(...said.map((fault) => `${path}, ${fault}`))
    }
  }
  expect(bad).toEqual([])
})

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
