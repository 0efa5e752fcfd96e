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
  const [task, workflow, monitor, host, webhook, script] = [
    count.id,
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
    `/monitors/${monitor}`,
    '/hosts',
    '/hosts/add',
    `/hosts/${host}`,
    '/indicators',
    '/status',
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
    '/jobs',
    `/jobs/${job.id}`,
    `/jobs/${job.id}/result`,
    '/schedules',
    '/webhooks',
    `/webhooks/${webhook}`,
    '/scripts',
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

/** What is still there on a second look: a colour may have been on its way to another. */
async function faults(page: Page): Promise<string[]> {
  const first = await found(page)
  return first.length ? found(page) : first
}

async function found(page: Page): Promise<string[]> {
  await idle(page)
  await page.evaluate(AXE)
  const violations = await page.evaluate(async () => {
    const rules = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
    return (await (window as any).axe.run(document, rules)).violations as Violation[]
  })
  return violations.flatMap((one) =>
    one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  )
}

/** Quiet: everything that was asked for is there. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForFunction(() => {
    const words = document.querySelector('main')?.innerText.trim() ?? ''
    return words.length > 5 && !document.querySelector('[aria-busy="true"], .mantine-Skeleton-root')
  })
}

for (const [name, look] of Object.entries({
  'light and wide': { scheme: 'light', width: 1440 },
  'dark and narrow': { scheme: 'dark', width: 390 },
} as const)) {
  test(`every page, ${name}: nothing for axe to find, no sideways scroll`, {
    timeout: 300_000,
  }, async () => {
    const page = await world.page('/', look)
    const bad: string[] = []
    for (const path of pages) {
      await page.goto(world.at(path))
      await settled(page).catch((fault) => bad.push(`${path}: ${fault.message}`))
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      if (width > look.width) bad.push(`${path}: ${width} px wide`)
      bad.push(...(await faults(page)).map((fault) => `${path}: ${fault}`))
    }
    expect(bad).toEqual([])
  })
}

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
