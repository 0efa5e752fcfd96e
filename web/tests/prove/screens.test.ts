import { afterAll, beforeAll, test } from 'vitest'
import { everyPage } from '../browser/every-page'
import { idle, picture, World } from '../browser/world'
import { fill } from './much-data'

/** Pictures of every page for people to review: SCREENS=<folder> make frames. */
const FOLDER = process.env.SCREENS
const JOBS_IN_PICTURES = 300
const WIDTHS = [390, 768, 1440]
const SCHEMES = ['light', 'dark'] as const

let world: World
let paths: string[]
beforeAll(async () => {
  if (!FOLDER) return
  world = await World.start()
  await fill(world, JOBS_IN_PICTURES)
  paths = await everyPage(world)
}, 900_000)
afterAll(() => world?.stop())

const LONG = { timeout: 1_800_000 }

test.skipIf(!FOLDER)('every page at three widths in both themes', LONG, async () => {
  const page = await world.page('/', { reducedMotion: 'reduce' })
  for (const path of [...paths, '/../status/acme']) {
    await page.goto(world.at(path))
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await idle(page)
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        await idle(page)
        const name = path.replace(/[0-9a-f]{24}/, 'id').replace(/[^a-z]+/g, '-')
        await picture(page, `${name.replace(/^-|-$/g, '') || 'dashboard'}-${width}-${colorScheme}`)
      }
  }
})
