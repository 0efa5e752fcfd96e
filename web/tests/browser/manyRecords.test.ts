import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, until, World } from './world'

/** More records than the demo has, and a small screen. */
let world: World

beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world?.stop())

const sideways = () => document.documentElement.scrollWidth - document.documentElement.clientWidth

test('many healthy tiles do not hide a failing one', async () => {
  for (let i = 0; i < 30; i++)
    await world.api('POST', '/indicator', { title: `Well ${i}`, type: 'counter', value: i })
  await world.api('POST', '/indicator', {
    title: 'Rows',
    type: 'counter',
    value: 5_230_501_123,
    state: 'failure',
  })
  const { id: host_id } = await world.host()
  const watched = { host_id, looptime: 1000, fail_threshold: 1 }
  await world.api('POST', '/monitor', {
    ...watched,
    name: 'Checkout',
    type: 'tcp',
    target: '127.0.0.1',
    port: 1,
  })
  const page = await world.page('/')
  const tiles = page.getByRole('region', { name: 'Indicators' })
  await tiles.getByRole('button', { name: '10 more indicators' }).click()
  await tiles.getByRole('article', { name: /^Well 9:/ }).waitFor()
  await tiles.getByRole('button', { name: 'Fewer indicators' }).click()
  await tiles.getByRole('article', { name: /^Rows:/ }).waitFor()

  await page.goto(world.at('/wall'))
  const bad = page.getByRole('region', { name: 'Failing monitors' })
  await until(async () => ((await bad.boundingBox())?.y ?? 900) < 450, 'the trouble on top')
  expect(await page.evaluate(sideways)).toBe(0)
  const number = page.getByRole('article', { name: /^Rows:/ }).locator('.tile-value')
  expect(await number.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true)
})

test('a job that has not started says so, and a finished one shows its last line as plain text', async () => {
  const host = await world.host()
  const task = await world.script('Colours', String.raw`printf '\033[31mERROR\033[0m no\n'; exit 3`)
  await world.api('PUT', `/host/${host.id}/disable`)
  const queued = await world.api('POST', `/task/${task.id}/job`, {})
  const page = await world.page(`/jobs/${queued.id}`)
  await page.locator('[data-mark="notYet"]').waitFor()
  await page.getByText('No output yet.').waitFor()
  await world.api('PUT', `/host/${host.id}/enable`)
  await page.locator('[data-mark="complete"]').waitFor()
  await page.getByRole('tab', { name: 'Result' }).click()
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('ERROR no', { exact: true }).waitFor()
  await page.getByText(/^0 ms$/).waitFor({ state: 'detached' })
})

test('on a phone the open tab is visible, and the minimap is hidden', async () => {
  const task = await world.script('Step', 'true')
  const ids = Array.from({ length: 13 }, (_, i) => `n${i}`)
  const flow = await world.api('POST', '/workflows', {
    name: 'Long',
    start: 'n0',
    graph: {
      nodes: ids.map((id) => ({ id, task_id: task.id })),
      edges: ids.slice(1).map((target, i) => ({ source: ids[i], target })),
    },
  })
  const page = await world.page('/settings/about', { width: 390 })
  const tab = page.getByRole('tab', { name: 'About' })
  await until(async () => {
    const box = await tab.boundingBox()
    return box && box.x >= 0 && box.x + box.width <= 390
  }, 'the open tab')
  expect(await page.evaluate(sideways)).toBe(0)
  // Also when a wide window becomes narrow.
  await page.setViewportSize({ width: 1440, height: 900 })
  await idle(page)
  await page.setViewportSize({ width: 390, height: 900 })
  await until(async () => {
    const box = await tab.boundingBox()
    return box && box.x >= 0 && box.x + box.width <= 390
  }, 'the open tab after a resize')
  // A reader who is further down stays there.
  await page.getByText('Open-source licences').scrollIntoViewIfNeeded()
  const position = await page.evaluate(() => scrollY)
  expect(position).toBeGreaterThan(200)
  await page.setViewportSize({ width: 380, height: 900 })
  await idle(page)
  expect(await page.evaluate(() => scrollY)).toBeGreaterThan(200)
  await page.goto(world.at(`/workflows/${flow.id}`))
  await page.locator('.react-flow__node').first().waitFor()
  expect(await page.locator('.react-flow__minimap').count()).toBe(0)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.locator('.react-flow__minimap-node').nth(12).waitFor()
})

test('on a phone the toolbar of workflows is that of other lists, and links look like links', async () => {
  const task = await world.script('Step', 'true')
  const graph = { nodes: [{ id: 'a', task_id: task.id }], edges: [] }
  await world.api('POST', '/workflows', { name: 'Toolbar', start: 'a', graph })
  const page = await world.page('/workflows', { width: 390 })
  const row = page.getByRole('listitem').filter({ hasText: 'Toolbar' })
  await row.getByRole('img', { name: 'never ran' }).waitFor()
  const search = (await page.getByLabel('Find a workflow').boundingBox())!
  const create = (await page.getByRole('button', { name: 'New workflow' }).boundingBox())!
  expect(search.x).toBeLessThan(40)
  expect(search.y + search.height).toBeLessThanOrEqual(create.y)
  expect(await page.evaluate(sideways)).toBe(0)
  // The link leads to the page that is open, without its kind.
  await page.goto(world.at('/monitors/new?kind=tcp'))
  const link = page.getByRole('link', { name: 'Another kind' })
  const colours = await link.evaluate((element) => {
    const anchor = document.createElement('a')
    element.parentElement!.append(anchor)
    return [getComputedStyle(element).color, getComputedStyle(anchor).color]
  })
  expect(colours[0]).toBe(colours[1])
  await link.click()
  await page.locator('.mon-kind svg').first().waitFor()
})

test('on a phone neither the name of a page nor the arrow of a group of options is cut', async () => {
  const page = await world.page('/monitors/new?kind=scraper', { width: 390 })
  for (const path of ['/monitors/new', '/indicators/new', '/people', '/schedules/new']) {
    await page.goto(world.at(path))
    const title = page.locator('header').getByRole('heading', { level: 1 })
    await title.waitFor()
    const cut = await title.evaluate((element) => element.scrollWidth - element.clientWidth)
    expect([path, cut]).toEqual([path, 0])
  }
  const group = page.getByRole('button', { name: /^Overlapping and missed runs/ })
  const arrow = (await group.locator('svg').boundingBox())!
  expect(arrow.width).toBe(14)
})

test('on a tablet neither the words about a section nor the keys of the search are cut off', async () => {
  const page = await world.page('/settings/credentials', { width: 768 })
  const words = page.getByText('Tokens have admin access')
  await words.waitFor()
  expect(await words.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true)
  expect(await page.locator('.search kbd').isVisible()).toBe(false)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.locator('.search kbd').waitFor()
})

test('on a tablet the names of jobs and the figures of a host are not cut', async () => {
  const task = await world.script('Compare the stock of all branch offices', 'true')
  const job = await world.api('POST', '/job', { task: task.id })
  const page = await world.page('/jobs', { width: 768 })
  const row = page.locator(`[data-job="${job.id}"]`)
  await row.locator('.jobs-duration, .jobs-second').first().waitFor()
  const link = row.getByRole('link', { name: task.name })
  // The rows are laid out again after a change of the size.
  const fits = (locator: Locator) =>
    until(
      () => locator.evaluate((element) => element.scrollWidth === element.clientWidth),
      'a text that is not cut',
    )
  await fits(link)
  await page.setViewportSize({ width: 390, height: 844 })
  for (const line of await row.locator('.jobs-second').all()) await fits(line)
  await page.setViewportSize({ width: 768, height: 1024 })
  await page.goto(world.at('/hosts'))
  const labels = page.locator('.host-figures .figure > span')
  await labels.first().waitFor()
  for (const label of await labels.all()) await fits(label)
  await page.setViewportSize({ width: 390, height: 844 })
  for (const label of await labels.all()) await fits(label)
})

test('a log is readable below a long head, and the page scrolls to it', async () => {
  const task_arguments = Array.from({ length: 9 }, (_, order) => ({
    type: 'input',
    label: `Number ${order}`,
    order,
  }))
  const task = await world.script('Long head', `echo ${'x'.repeat(500)}; exit 3`, {
    task_arguments,
  })
  const values = task_arguments.map(({ order }) => `${'value-'.repeat(20)}${order}`)
  const job = await world.api('POST', '/job', { task: task.id, task_arguments: values })
  const page = await world.page(`/jobs/${job.id}`, { width: 390, height: 844 })
  await page.getByText('Why did this fail?').waitFor()
  const log = page.locator('.log-box')
  await until(async () => ((await log.boundingBox())?.height ?? 0) > 100, 'a log of some height')
  await log.scrollIntoViewIfNeeded()
  expect(await page.evaluate(sideways)).toBe(0)
})

test('the buttons of a task do not hide the end of its script', async () => {
  const task = await world.script('Short script', 'true')
  const page = await world.page(`/tasks/${task.id}`)
  const hint = page.getByText('Press Esc, then Tab, to leave the editor', { exact: false })
  await hint.waitFor()
  const end = (await hint.boundingBox())!
  const bar = (await page.locator('.form-actions').boundingBox())!
  expect(end.y + end.height).toBeLessThanOrEqual(bar.y)
})

test('a workflow shows who changed it, and the audit names and links what was changed', async () => {
  const task = await world.script('Only', 'true')
  const graph = { nodes: [{ id: 'one', task_id: task.id }], edges: [] }
  const { id } = await world.api('POST', '/workflows', { name: 'Chain', start: 'one', graph })
  await world.api('PATCH', `/workflows/${id}`, { name: 'Longer chain' })
  const page = await world.page(`/workflows/${id}`)
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText('Workflow changed').click()
  await page.locator('[data-side="after"]', { hasText: 'Longer chain' }).waitFor()
  await page.setViewportSize({ width: 390, height: 900 })
  await page.goto(world.at(`/audit?object_id=${id}&action=workflow.change`))
  await page.getByRole('button', { name: /Workflow changed.*workflow Longer chain/ }).click()
  await page.getByRole('link', { name: `workflow ${id}` }).click()
  await page.getByRole('heading', { name: 'Longer chain' }).waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
