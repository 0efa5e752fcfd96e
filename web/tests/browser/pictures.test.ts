import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

/** The pictures of README and docs: `make pictures` puts them there; otherwise they are only made. */
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
  const tasks = new Map(all.map((one) => [one.name, one.id]))
  task = tasks.get('Count slowly')
  const run = (name: string, args: unknown[] = []) =>
    world.api('POST', '/job', { task: tasks.get(name), task_arguments: args })
  await run('Fail on purpose')
  await run('Measure the disk')
  job = (await run('Count slowly')).id
  workflow = (await world.api<any[]>('GET', '/workflows'))[0].id
  await world.api('POST', `/workflows/${workflow}/job`, {})
  monitor = (await world.api<any[]>('GET', '/monitor')).find((one) => one.type === 'scraper').id
  await until(async () => (await world.api<any[]>('GET', '/-/needs')).length > 0, 'an approval')
  await until(
    async () => (await world.api('GET', `/job/${job}`)).lifecycle === 'finished',
    'the end of the job',
  )
})
afterAll(() => world.stop())

const DASHBOARD = ['text=Recent jobs', 'text=Fail on purpose', '.dash-mon svg[role=img]']

/** What a picture shows: it is taken when all of that is drawn. */
const PICTURES: [string, () => string, 'light' | 'dark', string[]][] = [
  ['dashboard', () => '/', 'light', DASHBOARD],
  ['dashboard-dark', () => '/', 'dark', DASHBOARD],
  [
    'job',
    () => `/jobs/${job}`,
    'light',
    ['[data-mark="complete"]', '.log-row >> text=step 10 of 10'],
  ],
  ['jobs', () => '/jobs', 'light', ['text=Measure the disk', 'text=Fail on purpose']],
  ['task', () => `/tasks/${task}`, 'light', ['.cm-line >> nth=3']],
  ['workflow', () => `/workflows/${workflow}`, 'dark', ['.react-flow__node >> nth=2']],
  ['monitor', () => `/monitors/${monitor}`, 'light', ['text=Expected result', '.uplot canvas']],
]

for (const [name, path, scheme, shown] of PICTURES) {
  test(`a picture of ${name}`, async () => {
    const page = await world.page(path(), { scheme, width: 1280, height: 800 })
    for (const one of shown) await page.locator(one).first().waitFor()
    await page.waitForFunction(isDrawn)
    await page.evaluate(() => document.fonts.ready)
    const picture = await page.screenshot({
      path: join(FOLDER, `console-${name}.png`),
      animations: 'disabled',
    })
    // A page that failed to draw compresses to almost nothing.
    expect(picture.length).toBeGreaterThan(15_000)
    await page.context().close()
  })
}

/** Runs in the page: nothing is on its way, and there is something on every canvas. */
function isDrawn(): boolean {
  const hasInk = (canvas: HTMLCanvasElement) =>
    canvas
      .getContext('2d')!
      .getImageData(0, 0, canvas.width, canvas.height)
      .data.some((value) => value !== 0)
  const isBusy = document.querySelector('[aria-busy="true"], .mantine-Skeleton-root')
  return !isBusy && [...document.querySelectorAll('canvas')].every(hasInk)
}

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
