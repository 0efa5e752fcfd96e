import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { REPOSITORY } from './server'
import { World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false, agent: false })
})
afterAll(() => world.stop())

const SYSTEMS = [
  ...['Belvedere', 'xyOps', 'Rundeck', 'AWX', 'Windmill', 'Kestra'],
  ...['Dagu', 'n8n', 'Cronicle', 'Uptime Kuma', 'TheEye'],
]

/** The server does not serve the README, so its picture is shown as GitHub shows it: as a file. */
test('the picture of the README shows a job that continues while its server is killed', async () => {
  // Fresh, so that no page of the server applies its content policy to the picture.
  const page = await world.anonymousPage({ fresh: true })
  const readme = readFileSync(join(REPOSITORY, 'README.md'), 'utf8')
  const file = /!\[[^\]]*\]\((docs\/img\/\w+\.svg)\)/.exec(readme)![1]!
  await page.setContent(readFileSync(join(REPOSITORY, file), 'utf8'))
  /** The lines that can be seen at this part of the animation. */
  const linesAt = (part: number) =>
    page.evaluate((part) => {
      for (const animation of document.getAnimations()) {
        animation.pause()
        animation.currentTime = part * Number(animation.effect!.getTiming().duration)
      }
      return [...document.querySelectorAll('text[class]')]
        .filter((line) => getComputedStyle(line).opacity === '1')
        .map((line) => line.textContent!)
    }, part)
  expect(await linesAt(0)).toEqual([])
  const half = (await linesAt(0.4)).join('\n')
  expect(half).toContain('kill -9')
  expect(half).toContain('step 2 of 5')
  expect(half).not.toContain('step 3 of 5')
  const end = await linesAt(0.99)
  const steps = end.flatMap((line) => /step (\d) of 5/.exec(line)?.[1] ?? [])
  expect(steps).toEqual(['1', '2', '3', '4', '5'])
  expect(end.at(-1)).toMatch(/ended: success|ready at/)
})

test('the comparison opens from the explanations, names ten systems, and links its sources', async () => {
  const page = await world.anonymousPage()
  await page.goto(`${world.url}/-/docs/explanation/`)
  await page
    .getByRole('main')
    .getByRole('link', { name: /^Compared with/ })
    .click()
  await page.getByRole('heading', { level: 1, name: 'Compared with other systems' }).waitFor()
  const table = page.getByRole('table').filter({ hasText: 'licence' })
  const heads = await table.getByRole('columnheader').allTextContents()
  expect(heads.map((head) => head.trim()).filter(Boolean)).toEqual(SYSTEMS)
  const numbers = (await page.getByRole('table').allTextContents()).join(' ')
  const used = new Set([...numbers.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1])))
  const sources = page.locator('#sources ~ ol').first().getByRole('listitem')
  expect([...used].sort((a, b) => a - b)).toEqual(
    Array.from({ length: await sources.count() }, (_, index) => index + 1),
  )
  await page.setViewportSize({ width: 390, height: 800 })
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  await expect.poll(overflow).toBeLessThanOrEqual(0)
})

test('pictures follow the theme, and llms.txt lists the pages for programs', async () => {
  const page = await world.anonymousPage({ scheme: 'dark' })
  await page.goto(`${world.url}/-/docs/quickstart`)
  const picture = page.getByRole('main').getByRole('img', { name: /^The page of a job/ })
  await expect.poll(() => picture.count()).toBe(1)
  await picture.scrollIntoViewIfNeeded()
  const width = () => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)
  await expect.poll(width).toBeGreaterThan(600)
  expect(await picture.getAttribute('src')).toMatch(/-dark\.png$/)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.reload()
  await expect.poll(() => picture.getAttribute('src')).toMatch(/job\.png$/)
  const list = await page.getByRole('link', { name: 'llms.txt' }).getAttribute('href')
  const text = await (await page.request.get(new URL(list!, page.url()).href)).text()
  expect(text).toContain('# Belvedere')
  const address = /\]\((\S*quickstart\S*)\)/.exec(text)![1]!
  const answer = await page.request.get(new URL(address, new URL(list!, page.url())).href)
  expect([answer.status(), await answer.text()]).toEqual([200, expect.stringContaining('# ')])
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
