import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PAGES } from '../../src/app/pages'
import { everyPage } from '../browser/every-page'
import { idle, picture, until, World } from '../browser/world'
import { fill } from './much-data'

/** Pictures of every page for people to review: SCREENS=<folder> make frames. */
const FOLDER = process.env.SCREENS
const JOBS_IN_PICTURES = 300
/** Narrow windows are higher, so that more of a long page is visible. */
const SIZES = [
  { width: 390, height: 1_500 },
  { width: 768, height: 1_100 },
  { width: 1440, height: 900 },
]
const SCHEMES = ['light', 'dark'] as const
const LONG = { timeout: 1_800_000 }

async function take(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  for (const size of SIZES)
    for (const colorScheme of SCHEMES) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      await idle(page)
      await picture(page, `${name}-${size.width}-${colorScheme}`)
    }
}

function nameOf(path: string): string {
  const words = path.replace(/[0-9a-f]{24}/, 'id').replace(/[^a-z]+/g, '-')
  return words.replace(/^-|-$/g, '') || 'dashboard'
}

/** Jobs that ended in other ways, and pages that depend on the address. */
async function morePages(world: World): Promise<[name: string, path: string][]> {
  const tasks = await world.api<{ id: string; name: string }[]>('GET', '/task')
  const idOf = (name: string) => tasks.find((task) => task.name === name)!.id
  const start = async (name: string) =>
    (await world.api<{ id: string }>('POST', '/job', { task: idOf(name) })).id
  const [flow] = await world.api<{ id: string }[]>('GET', '/workflows')
  const run = await world.api<{ id: string }>('POST', `/workflows/${flow!.id}/job`, {})
  const failed = await start('Fail on purpose')
  const approval = await start('Ask for approval')
  const state = async (id: string) => (await world.api('GET', `/job/${id}`)).lifecycle
  await until(async () => (await state(failed)) === 'finished', 'the failed job')
  return [
    ['job-failed', `/jobs/${failed}`],
    ['job-approval', `/jobs/${approval}`],
    ['job-workflow', `/jobs/${run.id}`],
    ['job-graph', `/jobs/${run.id}/graph`],
    ['workflow-run', `/workflows/${flow!.id}/graph?job=${run.id}`],
    ['task-new-shell', '/tasks/new?template=shell'],
    ['task-run', `/tasks/${idOf('Greet somebody')}?run=true`],
    ['hosts-grid', '/hosts?grid=true'],
    ['inbox-all', '/inbox?all=true'],
    ['not-found', '/no-such-page'],
    ['status-public', '/../status/acme'],
  ]
}

describe.runIf(FOLDER)('an organization with content', () => {
  let world: World
  let paths: string[]
  beforeAll(async () => {
    world = await World.start()
    await fill(world, JOBS_IN_PICTURES)
    paths = await everyPage(world)
  }, 900_000)
  afterAll(() => world?.stop())

  test('every page at three widths in both themes', LONG, async () => {
    const page = await world.page('/', { reducedMotion: 'reduce' })
    const pages = paths.map((path) => [nameOf(path), path] as const)
    for (const [name, path] of [...pages, ...(await morePages(world))]) {
      await page.goto(world.at(path))
      await take(page, name)
    }
  })

  test('pages without a session', LONG, async () => {
    const page = await world.anonymousPage({ reducedMotion: 'reduce' })
    const docs = ['', 'quickstart', 'howto/', 'explanation/compare', 'reference/cli', 'no-page']
    for (const path of [
      ...['/ui/login', '/ui/recover', '/ui/link', '/ui/setup'],
      ...docs.map((name) => `/-/docs/${name}`),
    ]) {
      await page.goto(world.url + path)
      await take(page, `anonymous${path.replace(/[^a-z]+/g, '-').replace(/-$/, '')}`)
    }
  })
})

describe.runIf(FOLDER)('an organization without content', () => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ demo: false, agent: false })
  })
  afterAll(() => world?.stop())

  test('the pages of the navigation', LONG, async () => {
    const page = await world.page('/', { reducedMotion: 'reduce' })
    for (const { to } of PAGES) {
      await page.goto(world.at(to))
      await take(page, `empty-${nameOf(to)}`)
    }
    expect(PAGES.length).toBeGreaterThan(10)
  })
})
