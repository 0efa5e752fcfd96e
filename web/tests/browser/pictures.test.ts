import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

/** The screenshots in README and docs. `make pictures` stores them. */
const FOLDER = process.env.PICTURES ?? mkdtempSync(join(tmpdir(), 'belvedere-pictures-'))

let world: World
let job: string
let task: string
let workflow: string
let monitor: string
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true })
  world = await World.start()
  const all = await world.api<any[]>('GET', '/task')
  const tasks = new Map(all.map((task) => [task.name, task.id]))
  task = tasks.get('Count slowly')
  const run = (name: string, args: unknown[] = []) =>
    world.api('POST', '/job', { task: tasks.get(name), task_arguments: args })
  await run('Fail on purpose')
  await run('Measure the disk')
  job = (await run('Count slowly')).id
  workflow = (await world.api<any[]>('GET', '/workflows'))[0].id
  await world.api('POST', `/workflows/${workflow}/job`, {})
  monitor = (await world.api<any[]>('GET', '/monitor')).find(
    (monitor) => monitor.type === 'scraper',
  ).id
  await until(async () => (await world.api<any[]>('GET', '/-/needs')).length > 0, 'an approval')
  await until(
    async () => (await world.api('GET', `/job/${job}`)).lifecycle === 'finished',
    'the end of the job',
  )
})
afterAll(() => world.stop())

/** A test run needs to know only that each screenshot can be taken. */
const SCHEMES = process.env.PICTURES ? (['light', 'dark'] as const) : (['light'] as const)
const DASHBOARD = [
  '.first-steps',
  'text=Recent jobs',
  'text=Fail on purpose',
  '.dash-mon svg[role=img]',
]

/** The screenshot is taken when all of these selectors are drawn. */
const PICTURES: [string, () => string, string[]][] = [
  ['dashboard', () => '/', DASHBOARD],
  ['job', () => `/jobs/${job}`, ['[data-mark="complete"]', '.log-row >> text=step 10 of 10']],
  ['jobs', () => '/jobs', ['text=Measure the disk', 'text=Fail on purpose']],
  ['task', () => `/tasks/${task}`, ['.cm-line >> nth=3']],
  ['workflow', () => `/workflows/${workflow}`, ['.react-flow__node >> nth=2']],
  ['monitor', () => `/monitors/${monitor}`, ['text=Expected result', '.uplot canvas']],
]
const VARIANTS = PICTURES.flatMap(([name, path, selectors]) =>
  SCHEMES.map((scheme) => ({
    file: `console-${name}${scheme === 'dark' ? '-dark' : ''}.png`,
    path,
    scheme,
    selectors,
  })),
)

for (const { file, path, scheme, selectors } of VARIANTS) {
  test(`the screenshot ${file}`, async () => {
    const page = await world.page(path(), { scheme, width: 1280, height: 800 })
    for (const selector of selectors) await page.locator(selector).first().waitFor()
    await page.waitForFunction(isDrawn)
    await page.evaluate(() => document.fonts.ready)
    const picture = await page.screenshot({
      path: join(FOLDER, file),
      animations: 'disabled',
    })
    // A page that failed to draw compresses to almost nothing.
    expect(picture.length).toBeGreaterThan(15_000)
    await page.context().close()
  })
}

/** Runs in the page: whether nothing is loading and no canvas is blank. */
function isDrawn(): boolean {
  const hasInk = (canvas: HTMLCanvasElement) =>
    canvas
      .getContext('2d')!
      .getImageData(0, 0, canvas.width, canvas.height)
      .data.some((value) => value !== 0)
  const isBusy = document.querySelector('[aria-busy="true"], .mantine-Skeleton-root')
  return !isBusy && [...document.querySelectorAll('canvas')].every(hasInk)
}

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
