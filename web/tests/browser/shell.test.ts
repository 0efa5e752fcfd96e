import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, press, until, World } from './world'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

test('the palette opens every page and runs a task', async () => {
  const page = await world.page('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /Search/ }).fill('audit')
  await page.getByRole('option', { name: 'Audit log' }).first().waitFor()
  await press(page, 'Enter')
  await page.waitForURL(world.at('/audit'))
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await press(page, 'Control+k')
  await page.getByRole('combobox', { name: /Search/ }).fill('count slow')
  await page.getByRole('option', { name: /Run: Count slowly/ }).click()
  await page.getByRole('dialog', { name: /Count slowly/ }).waitFor()
})

test('shortcuts work as soon as the palette is closed', async () => {
  const page = await world.page('/')
  await press(page, 'Control+k')
  await page.getByRole('combobox', { name: /Search/ }).waitFor()
  // Immediately afterwards: the palette is still fading out.
  await press(page, 'Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
})

test('the list of shortcuts opens; single keys are ignored while typing and can be turned off', async () => {
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

test('a dark page is dark from its first paint, and the choice is remembered', async () => {
  const page = await world.page('/', { scheme: 'light' })
  await page.getByRole('button', { name: /light and dark/ }).click()
  await until(async () => (await scheme(page)) === 'dark', 'the dark page')
  // The page has its colours before any code of the application has run.
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

test('the console follows the system theme, can be Spanish, and can be without animation', async () => {
  const page = await world.page('/', { scheme: 'dark', language: 'es', reducedMotion: 'reduce' })
  expect(await scheme(page)).toBe('dark')
  await page.getByRole('heading', { level: 1, name: 'Panel' }).waitFor()
  await page.emulateMedia({ colorScheme: 'light' })
  await until(async () => (await scheme(page)) === 'light', 'the light page')
  await page.waitForFunction(
    () => !document.getAnimations().some((animation) => animation.playState === 'running'),
  )
})

test('state shapes are visible in forced colours', async () => {
  const page = await world.page('/monitors')
  await page.emulateMedia({ forcedColors: 'active' })
  await page
    .getByRole('img', { name: /Normal|Warning|Failing/ })
    .first()
    .waitFor()
})

test('an unknown address says so and offers links to other pages', async () => {
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

test('help opens the page that fits, in the theme of the console, with search', async () => {
  const page = await world.page('/hosts/add', { scheme: 'light' })
  const help = page.getByRole('link', { name: 'Documentation for this page' })
  await page.goto(new URL((await help.getAttribute('href'))!, world.url).href)
  await page.getByRole('heading', { level: 1, name: 'Install a second host' }).waitFor()
  await press(page, '/')
  await page.keyboard.type('secret mask')
  const results = page.getByRole('option')
  await results.first().waitFor()
  expect(await results.first().textContent()).toContain('Secrets')
  await page.keyboard.press('ArrowDown')
  const second = await results.nth(1).getAttribute('href')
  expect(await axeFaults(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`${second!.replaceAll('../', '')}$`))
  await page.getByRole('button', { name: /light and dark/ }).click()
  expect(await scheme(page)).toBe('dark')
  expect(await axeFaults(page)).toEqual([])
  // The choice counts for the console too.
  await page.goto(world.at('/hosts'))
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await scheme(page)).toBe('dark')
  await page.goto(`${world.url}/-/docs/no/such/page`)
  await page.getByRole('link', { name: 'Quickstart' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quickstart' }).waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('navigation', { name: 'Documentation' }).getByText('Reference').click()
  await page.getByRole('link', { name: 'Command line' }).click()
  await page.getByRole('heading', { level: 1, name: 'Command line' }).waitFor()
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
  ).toBeLessThanOrEqual(0)
  await page.goBack()
  const block = page.locator('.code[data-copy]').first()
  await block.getByRole('button', { name: 'Copy' }).click()
  await block.getByRole('button', { name: /opied/ }).waitFor()
})

async function axeFaults(page: import('playwright-core').Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () =>
    (await (window as any).axe.run(document)).violations.map(
      (violation: any) => `${violation.id}: ${violation.nodes[0].html}`,
    ),
  )
}

test('no page logged an error or called another host', () => {
  expect(world.pageErrors.filter((error) => !error.includes('ERR_FAILED'))).toEqual([])
})
