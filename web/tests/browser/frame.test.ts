import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, press, until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

test('the palette goes everywhere and runs a task', async () => {
  const page = await world.page('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /Search/ }).fill('audit')
  await page.getByRole('button', { name: 'Audit log' }).first().waitFor()
  await press(page, 'Enter')
  await page.waitForURL(world.at('/audit'))
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await press(page, 'Control+k')
  await page.getByRole('textbox', { name: /Search/ }).fill('count slow')
  await page.getByRole('button', { name: /Run: Count slowly/ }).click()
  await page.getByRole('dialog', { name: /Count slowly/ }).waitFor()
})

test('keys are heard as soon as the palette is closed', async () => {
  const page = await world.page('/')
  await press(page, 'Control+k')
  await page.getByRole('textbox', { name: /Search/ }).waitFor()
  // Not a moment between: the palette is still fading.
  await press(page, 'Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
})

test('the sheet of keys opens, single keys are silent while typing and can be switched off', async () => {
  const page = await world.page('/')
  await press(page, '?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.goto(world.at('/tasks'))
  await page.getByRole('textbox').first().fill('g')
  await page.keyboard.type('j')
  expect(page.url()).toContain('/tasks')
  await page.goto(world.at('/settings/appearance'))
  await page.getByRole('switch', { name: 'Single-key shortcuts' }).click({ force: true })
  await page.locator('h1').click()
  await press(page, '?', 'g', 'j')
  await idle(page)
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(page.url()).toContain('/settings/appearance')
})

test('a dark page is dark from its first paint, and the choice stays', async () => {
  const page = await world.page('/', { scheme: 'light' })
  await page.getByRole('button', { name: /light and dark/ }).click()
  await until(async () => (await scheme(page)) === 'dark', 'the dark page')
  // Before any of the application has run the page has its colours.
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.reload()
  expect(await scheme(page)).toBe('dark')
  const background = await page.evaluate(
    () => getComputedStyle(document.documentElement).backgroundColor,
  )
  expect(background).toBe('rgb(14, 17, 22)')
})

function scheme(page: import('playwright-core').Page): Promise<string | null> {
  return page.evaluate(() => document.documentElement.getAttribute('data-mantine-color-scheme'))
}

test('it follows the system, speaks Spanish, and stands still when asked', async () => {
  const page = await world.page('/', { scheme: 'dark', language: 'es', reducedMotion: 'reduce' })
  expect(await scheme(page)).toBe('dark')
  await page.getByRole('heading', { level: 1, name: 'Panel' }).waitFor()
  await page.emulateMedia({ colorScheme: 'light' })
  await until(async () => (await scheme(page)) === 'light', 'the light page')
  await page.waitForFunction(
    () => !document.getAnimations().some((one) => one.playState === 'running'),
  )
})

test('shapes stay in forced colours', async () => {
  const page = await world.page('/monitors')
  await page.emulateMedia({ forcedColors: 'active' })
  await page
    .getByRole('img', { name: /Normal|Warning|Failing/ })
    .first()
    .waitFor()
})

test('an address that leads nowhere says so, and there are ways on', async () => {
  const page = await world.page('/')
  const nothing = page.getByText('Page not found')
  const outside = ['nothing-here', 'no/thing'].map((path) => `${world.url}/ui/${path}`)
  for (const address of [world.at('/no-such-page'), world.at('/no/such/page'), ...outside]) {
    await page.goto(address)
    await nothing.waitFor()
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  }
  await page
    .getByRole('navigation', { name: 'Automate' })
    .getByRole('link', { name: 'Jobs' })
    .click()
  await page.waitForURL(world.at('/jobs'))
  await page.goto(world.at('/jobs/0123456789abcdef01234567'))
  await page.getByText('Not found').waitFor()
})

test('no page sinned', () => {
  expect(world.sins.filter((sin) => !sin.includes('ERR_FAILED'))).toEqual([])
})
