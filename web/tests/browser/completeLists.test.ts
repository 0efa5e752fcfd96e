import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { press, until, World } from './world'

/** A little more than one page of each kind of record. */
const MANY = 205

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false, agent: false })
  const { token } = await world.api('POST', '/api/enrolment', { name: 'many', uses: MANY })
  const task = await world.api('POST', '/task', { name: 'Step', type: 'dummy', task_arguments: [] })
  const graph = { nodes: [{ id: 'a', task_id: task.id }], edges: [] }
  for (let n = 0; n < MANY; n++) {
    const name = String(n).padStart(3, '0')
    const host = { token, hostname: `host-${name}`, fingerprint: `print-${name}` }
    await Promise.all([
      world.api('POST', '/-/enrol', host),
      world.api('POST', '/indicator', { title: `Tile ${name}`, type: 'counter', value: n }),
      world.api('POST', '/workflows', { name: `flow ${name}`, start: 'a', graph }),
      world.api('POST', '/monitor', { name: `push ${name}`, type: 'push' }),
    ])
  }
})
afterAll(() => world.stop())

test('the list of hosts can be loaded to its end, and is transferred compressed', async () => {
  const page = await world.page('/')
  const lists: Record<string, string>[] = []
  page.on('response', (response) => {
    const isList = new URL(response.url()).pathname === '/-/board/hosts'
    if (isList) lists.push(response.headers())
  })
  await page.goto(world.at('/hosts'))
  await page.getByText(`${MANY} hosts`).waitFor()
  await until(async () => {
    await page.locator('.host-row').last().scrollIntoViewIfNeeded()
    return (await page.locator('.host-row').count()) === MANY
  }, 'the last host')
  await page.getByRole('link', { name: 'host-204' }).waitFor()
  expect(await page.getByRole('button', { name: /^Show .*more/ }).count()).toBe(0)
  expect(lists.length).toBeGreaterThan(1)
  for (const headers of lists) expect(headers['content-encoding']).toBe('gzip')
})

test('the dashboard and the wall show the worst objects, and link to the others with their number', async () => {
  const broken = { title: 'Zz broken', type: 'counter', value: 1, state: 'failure' }
  await world.api('POST', '/indicator', broken)
  const page = await world.page('/')
  const tiles = page.getByRole('region', { name: 'Indicators' })
  await tiles.getByText('Zz broken').waitFor()
  await tiles.getByRole('link', { name: 'and 6 more' }).waitFor()
  const hosts = page.getByRole('region', { name: 'Hosts' })
  await hosts.getByRole('link', { name: 'and 199 more' }).click()
  await page.waitForURL(world.at('/hosts'))
  await page.goto(world.at('/wall'))
  await page.getByText('Zz broken').waitFor()
  await page.getByRole('link', { name: 'and 6 more indicators' }).click()
  await page.waitForURL(world.at('/indicators'))
})

test('the workflow filter covers all workflows', async () => {
  const page = await world.page('/workflows?q=flow%20204')
  await page.getByText(`${MANY} workflows`, { exact: true }).waitFor()
  await page.getByRole('link', { name: 'flow 204' }).waitFor()
  // Its small graph: one step.
  await page.locator('.flow-mini rect').waitFor()
})

test('the runs of a workflow can be loaded beyond the first page', async () => {
  const [flow] = await world.api('GET', '/workflows?limit=1')
  for (let n = 0; n < 51; n++) await world.api('POST', `/workflows/${flow.id}/job`, {})
  const page = await world.page(`/workflows/${flow.id}/graph`)
  await page.getByRole('combobox', { name: 'Run' }).click()
  await page.getByRole('option', { name: 'Older runs…' }).click()
  await page.waitForURL(/\/jobs$/)
  await expectMoreRows(page, 'Runs', 51)
})

test('the messages of channels can be loaded beyond the first page', async () => {
  const url = 'http://127.0.0.1:1/'
  const { id } = await world.api('POST', '/notify/channel', { name: 'nowhere', url })
  for (let n = 0; n < 51; n++) await world.api('POST', `/notify/channel/${id}/test`)
  const page = await world.page('/settings/notifications')
  await expectMoreRows(page, 'Messages', 51)
})

test('the run history of a schedule can be loaded beyond the first page', async () => {
  const [task] = await world.api('GET', '/task?limit=1')
  const when = { name: 'yearly', repeatEvery: '0 0 1 1 *' }
  const { id } = await world.api('POST', `/task/${task.id}/schedule`, when)
  const page = await world.page('/schedules')
  const answers: number[] = []
  // A test cannot wait for that many runs.
  const all = Array.from({ length: 101 }, (_, n) => ({
    nominal: new Date(Date.UTC(2026, 0, 1) - n * 60_000).toISOString(),
    state: 'missed',
    count: 1,
    reason: 'paused',
    message: '',
    job_id: null,
  }))
  await page.route(`**/schedule/${id}/run?*`, async (route) => {
    const url = new URL(route.request().url())
    const before = url.searchParams.get('where[nominal][$lt]') ?? '9'
    answers.push((await world.request('GET', url.pathname + url.search)).status)
    const json = all.filter((run) => run.nominal < before).slice(0, 100)
    await route.fulfill({ json })
  })
  await page.goto(world.at(`/schedules/${id}`))
  await expectMoreRows(page, 'Run history', 101)
  // The server accepts the query.
  expect(new Set(answers)).toEqual(new Set([200]))
})

test('a form loads only the names of the objects that it offers', async () => {
  const page = await world.page('/')
  const lists: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    const isList = /\/(task|host|monitor|workflows|indicator)$/.test(pathname)
    if (isList && request.method() === 'GET' && !searchParams.has('limit')) lists.push(pathname)
  })
  const forms = [
    ['/tasks/new?template=shell', 'Host', 'host-204'],
    ['/monitors/new?kind=file', 'Checked by', 'host-204'],
    ['/monitors/new?kind=nested', 'Members', 'push 204'],
    ['/workflows/new', 'Tasks in order', 'Step'],
  ]
  for (const [path, field, option] of forms) {
    await page.goto(world.at(path))
    await page.getByRole('combobox', { name: field }).first().fill(option)
    await page.getByRole('option', { name: option }).click()
  }
  expect(lists).toEqual([])
  await page.close()
})

test('the tag filter offers the tags of all monitors', async () => {
  await world.api('POST', '/monitor', { name: 'zz last', type: 'push', tags: ['rare'] })
  const page = await world.page('/monitors')
  await page.getByRole('combobox', { name: 'Tags' }).click()
  await page.getByRole('option', { name: 'rare' }).click()
  await page.getByText('1 monitor', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'zz last' }).waitFor()
})

/** The address of each list, its filter field, a name that matches and one that does not. */
const LISTS = [
  ['/schedules', 'Find a schedule', 'of the night', 'of the day'],
  ['/webhooks', 'Find a webhook', 'of the night', 'of the day'],
  ['/indicators', 'Find an indicator', 'Tile 204', 'Tile 203'],
  ['/workflows', 'Find a workflow', 'flow 204', 'flow 003'],
] as const

test('every list has a filter that is kept in the address, on a phone too', async () => {
  const [task] = await world.api('GET', '/task?limit=1')
  for (const name of ['of the day', 'of the night']) {
    const tasks = [task.id]
    await world.api('POST', '/webhook', { name, tasks })
    await world.api('POST', `/task/${task.id}/schedule`, { name, repeatEvery: '0 0 1 1 *' })
  }
  const page = await world.page('/', { width: 390 })
  for (const [path, label, match, other] of LISTS) {
    await page.goto(world.at(path))
    const field = page.getByRole('textbox', { name: label })
    await page.getByText(other, { exact: true }).waitFor()
    await press(page, '/')
    await page.keyboard.insertText(match.toUpperCase())
    await page.getByText(other, { exact: true }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText(match, { exact: true }).waitFor()
    expect(await field.inputValue()).toBe(match.toUpperCase())
    expect(await page.getByText(other, { exact: true }).count()).toBe(0)
    await field.fill('nothing at all')
    await page.getByText('No matches').waitFor()
    const [all, visible] = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return [scrollWidth, clientWidth]
    })
    expect([path, all]).toEqual([path, visible])
  }
})

test('the monitor filter of the dashboard is kept in the address', async () => {
  const page = await world.page('/')
  const card = page.getByRole('region', { name: 'Monitors' })
  await card.getByRole('button', { name: 'Only problems' }).click()
  await page.waitForURL(/show=problems$/)
  await page.reload()
  const chosen = card.getByRole('button', { name: 'Only problems', pressed: true })
  await chosen.waitFor({ state: 'attached' })
  await chosen.click()
  await page.waitForURL(({ search }) => search === '')
})

async function expectMoreRows(page: Page, list: string, all: number): Promise<void> {
  const part = page.getByRole('region', { name: list })
  const rows = part.getByRole('listitem')
  const more = part.getByRole('button', { name: 'Show more' })
  await more.waitFor()
  expect(await rows.count()).toBeLessThan(all)
  await more.click()
  await rows.nth(all - 1).waitFor()
  await more.waitFor({ state: 'detached' })
  expect(await rows.count()).toBe(all)
}

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
