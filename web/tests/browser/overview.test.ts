import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM } from './server'
import { idle, picture, press, until, World } from './world'

/** Dashboard, jobs, palette and inbox of one organization with problems. */
let world: World
let deploy: { id: string; name: string }
let failedJob: { id: string }
beforeAll(async () => {
  world = await World.start()
  deploy = await world.script(
    'Deploy shop',
    'echo "to $1"; test "$1" = prod || { echo "fatal: no $1"; exit 3; }',
    {
      task_arguments: [
        { type: 'input', label: 'Target', order: 0, required: true },
        { type: 'input', label: 'Key', order: 1, required: false, masked: true },
      ],
    },
  )
  await waitForEnd(await start(['prod', 'k1']))
  failedJob = await waitForEnd(await start(['moon', 'SECRET-9']))
  const { id: host_id } = await world.host()
  await world.api('POST', '/monitor', {
    host_id,
    looptime: 1000,
    fail_threshold: 1,
    name: 'Checkout',
    type: 'tcp',
    target: '127.0.0.1',
    port: 1,
  })
})
afterAll(() => world.stop())

const start = (values: unknown[]) =>
  world.api<{ id: string }>('POST', '/job', { task: deploy.id, task_arguments: values })

async function waitForEnd(job: { id: string }): Promise<{ id: string }> {
  const isOver = async () => (await world.api('GET', `/job/${job.id}`)).lifecycle === 'finished'
  await until(isOver, 'the end of the job')
  return job
}

const short = (id: string) => `#${id.slice(-6)}`

async function shoot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENS) return
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const width of [390, 900, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await idle(page)
      await picture(page, `${name}-${width}-${scheme}`)
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1440, height: 900 })
}

test('the dashboard shows problems first and does not move while it loads', async () => {
  const page = await world.page('/tasks')
  await page.addInitScript(() => {
    const shifts = { sum: 0 }
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
        shifts.sum += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.goto(world.at('/'))
  const problems = page.getByRole('region', { name: 'Problems' })
  await problems
    .getByRole('link', { name: new RegExp(`Deploy shop ${short(failedJob.id)}`) })
    .waitFor()
  await problems.getByRole('link', { name: /Checkout/ }).waitFor()
  await page.getByRole('region', { name: 'Recent jobs' }).waitFor()
  // Beside failing monitors, nothing may read as if all were well.
  const pending = page.getByRole('region', { name: 'Waiting for you' })
  await pending.getByText('No approvals or questions are waiting for you.').waitFor()
  await idle(page)
  const box = (region: string) => page.getByRole('region', { name: region }).boundingBox()
  expect((await box('Problems'))!.y).toBeLessThan((await box('Indicators'))!.y)
  const shift = await page.evaluate(
    () => (window as never as { shifts: { sum: number } }).shifts.sum,
  )
  expect(shift).toBeLessThan(0.05)
  const faces = await page
    .locator('.tile-value, .tile-text, .tile-title')
    .evaluateAll((all) => [...new Set(all.map((node) => getComputedStyle(node).fontFamily))])
  expect(faces).toHaveLength(1)
  await shoot(page, 'dashboard')
})

test('a long name does not hide the state of a problem', async () => {
  const name = 'Payment gateway of the northern region, second line of the fallback'
  const { id: host_id } = await world.host()
  const target = { type: 'tcp', target: '127.0.0.1', port: 1 }
  await world.api('POST', '/monitor', {
    ...{ host_id, name, ...target },
    ...{ looptime: 1000, fail_threshold: 1 },
  })
  const page = await world.page('/')
  await page.setViewportSize({ width: 390, height: 800 })
  const problem = page.getByRole('region', { name: 'Problems' }).getByRole('link', { name })
  const state = (await problem.getByText('Down').boundingBox())!
  const row = (await problem.boundingBox())!
  expect(state.x + 40).toBeLessThan(row.x + row.width)
})

test('the cards are arranged by keys, for oneself and for everyone', async () => {
  const page = await world.page('/')
  await page.getByRole('button', { name: 'Arrange cards' }).focus()
  await press(page, 'Enter')
  const dialog = page.getByRole('dialog', { name: 'Arrange the dashboard' })
  await dialog.getByRole('button', { name: 'Move Recent jobs up' }).focus()
  for (let n = 0; n < 4; n++) {
    await press(page, 'Enter')
    await idle(page)
  }
  await dialog.getByRole('checkbox', { name: 'Hosts' }).focus()
  await press(page, 'Space')
  await shoot(page, 'arrange')
  await dialog.getByRole('button', { name: 'Save for everyone' }).click()
  await page.getByText('Layout saved for everyone').waitFor()
  const first = (page: Page) =>
    page
      .locator('main section[aria-label]:not(.dash-problems, .first-steps)')
      .first()
      .getAttribute('aria-label')
  await expect.poll(() => first(page)).toBe('Recent jobs')
  expect(await page.getByRole('region', { name: 'Hosts', exact: true }).count()).toBe(0)
  const viewer = await world.member('viewer')
  const other = await world.page('/', { as: viewer })
  await expect.poll(() => first(other)).not.toBe('Indicators')
  expect(await other.getByRole('region', { name: 'Hosts', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Arrange cards' }).click()
  await dialog.getByRole('button', { name: 'Reset for everyone' }).click()
  await page.getByText('The shared layout was removed').waitFor()
  await page.getByRole('region', { name: 'Hosts', exact: true }).waitFor()
})

test('a card gets its own width for one person only', async () => {
  const viewer = await world.member('viewer', 'width@example.org')
  const page = await world.page('/', { as: viewer })
  const widthOf = async (page: Page) =>
    (await page.getByRole('region', { name: 'Recent jobs' }).boundingBox())!.width
  const before = await widthOf(page)
  await page.getByRole('button', { name: 'Arrange cards' }).click()
  const dialog = page.getByRole('dialog', { name: 'Arrange the dashboard' })
  expect(await dialog.getByRole('button', { name: /for everyone/ }).count()).toBe(0)
  await dialog
    .getByRole('radiogroup', { name: 'Width of Recent jobs' })
    .getByText('Full', { exact: true })
    .click()
  await dialog.getByRole('button', { name: 'Save for me' }).click()
  await page.getByText('Layout saved', { exact: true }).waitFor()
  await expect.poll(() => widthOf(page)).toBeGreaterThan(1.8 * before)
  await page.reload()
  await expect.poll(() => widthOf(page)).toBeGreaterThan(1.8 * before)
  const other = await world.page('/')
  await expect.poll(() => widthOf(other)).toBeLessThan(1.2 * before)
  await page.getByRole('button', { name: 'Arrange cards' }).click()
  await dialog.getByRole('button', { name: 'Reset for me' }).click()
  await expect.poll(() => widthOf(page)).toBeLessThan(1.2 * before)
})

test('a failed job says why, and its values can be changed for another run', async () => {
  const page = await world.page(`/jobs/${failedJob.id.slice(-6)}`)
  await page.waitForURL(world.at(`/jobs/${failedJob.id}`))
  const why = page.getByRole('region', { name: 'Why did this fail?' })
  await why.getByText('Exit code 3').waitFor()
  expect(await why.getByRole('link', { name: 'fatal: no moon' }).getAttribute('href')).toContain(
    '#L2',
  )
  await why.getByRole('listitem').filter({ hasText: 'Target: prod → moon' }).waitFor()
  await page.locator('.jobs-facts').getByRole('link', { name: 'Task' }).waitFor()
  expect(await page.content()).not.toContain('SECRET-9')
  await shoot(page, 'why')
  await page.getByRole('button', { name: 'More restart options' }).click()
  await page.getByRole('menuitem', { name: `Same as ${short(failedJob.id)}, but…` }).click()
  const dialog = page.getByRole('dialog')
  await expect.poll(() => dialog.getByLabel('Target').inputValue()).toBe('moon')
  await dialog.getByLabel('Target').fill('prod')
  await dialog.getByRole('button', { name: /^Run/ }).click()
  await dialog.getByRole('link', { name: /Open/ }).click()
  await page.getByRole('link', { name: `Run again from ${short(failedJob.id)}` }).waitFor()
})

test('a file among the arguments is shown by its name and size', async () => {
  const task = await world.api<{ id: string }>('POST', '/task', {
    name: 'Import file',
    type: 'dummy',
    task_arguments: [{ type: 'file', label: 'report', order: 0 }],
  })
  const file = `data:text/csv;name=june.csv;base64,${btoa('x'.repeat(1500))}`
  const job = await world.api('POST', '/job', { task: task.id, task_arguments: [file] })
  const page = await world.page('/jobs?q=Import')
  await page.locator('.chip', { hasText: 'june.csv (1.5 kB)' }).waitFor()
  await page.goto(world.at(`/jobs/${job.id}`))
  await page.locator('.chip', { hasText: 'june.csv' }).waitFor()
  expect(await page.locator('.chip', { hasText: 'blob' }).count()).toBe(0)
})

test('the list of jobs shows arguments and origins, and filters by search with counts', async () => {
  const hook = await world.api('POST', '/webhook', { name: 'crm-export', tasks: [deploy.id] })
  await world.api('POST', `/webhook/${hook.id}/trigger`, ['prod', 'SECRET-8'])
  const page = await world.page('/jobs')
  const row = page.locator('[data-job]').filter({ hasText: 'webhook crm-export' })
  await row.locator('.chip', { hasText: 'prod' }).waitFor()
  const { hostname } = await world.host()
  const row2 = page.locator(`[data-job="${failedJob.id}"]`)
  await row2.locator('.chip', { hasText: 'moon' }).waitFor()
  expect(await page.content()).not.toContain('SECRET-')
  await page
    .locator('.jobs-states')
    .getByRole('button', { name: /Failed\s*\d/ })
    .waitFor()
  await shoot(page, 'jobs')
  await page.getByRole('button', { name: /More filters/ }).click()
  await page.getByRole('combobox', { name: 'Task' }).fill('deploy')
  await page.getByRole('option', { name: `Deploy shop · ${hostname}` }).click()
  await page.waitForURL(new RegExp(`task=${deploy.id}`))
  await page.goto(world.at(`/tasks/${deploy.id}/jobs`))
  await page.getByRole('list', { name: 'Jobs' }).getByText('webhook crm-export').waitFor()
})

test('the command line takes the short ids of the list, and has its words', async () => {
  const hook = await world.api('POST', '/webhook', { name: 'deploys', tasks: [deploy.id] })
  await world.api('POST', `/webhook/${hook.id}/trigger`, ['prod', 'k2'])
  const page = await world.page('/jobs')
  const row = page.locator('[data-job]').filter({ hasText: 'webhook deploys' })
  await row.getByText('Succeeded').waitFor()
  const [id, state, origin] = await Promise.all(
    ['code', '.jobs-state', '.jobs-origin'].map((cell) => row.locator(cell).first().innerText()),
  )
  const { token } = await world.api<{ token: string }>('POST', '/api/token', { name: 'terminal' })
  const login = { BELVEDERE_SERVER: world.url, BELVEDERE_TOKEN: token }
  const env = { PATH: process.env.PATH, HOME: world.server.folder, LANG: 'C.UTF-8', ...login }
  const { stdout } = await promisify(execFile)(PROGRAM, ['job', 'show', id!], { env })
  const fields = Object.fromEntries(
    stdout.split('\n').map((line) => line.split(/\s{2,}/) as [string, string]),
  )
  expect(fields.id).toBe(await row.getAttribute('data-job'))
  expect(fields).toMatchObject({ state: `✓ ${state}`, 'started by': origin })
})

test('the palette selects the first result, and finds actions, job ids and recent pages', async () => {
  const page = await world.page(`/tasks/${deploy.id}`)
  await page.getByRole('heading', { name: 'Deploy shop' }).first().waitFor()
  await press(page, 'g', 'h')
  await page.waitForURL(world.at('/hosts'))
  await press(page, 'Control+k')
  const field = page.getByRole('combobox', { name: /Search/ })
  await field.waitFor()
  const first = page.getByRole('option').first()
  await expect.poll(() => first.getAttribute('aria-selected')).toBe('true')
  expect(await first.textContent()).toContain('Deploy shop')
  const list = page.locator('.palette-list')
  // Not the bounding box: it is smaller while the dialog opens.
  const heightOf = () => list.evaluate((element) => (element as HTMLElement).offsetHeight)
  const height = await heightOf()
  await shoot(page, 'palette')
  await field.fill('dark')
  await press(page, 'Enter')
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
  await press(page, 'Control+k')
  await field.fill(short(failedJob.id))
  await page
    .getByRole('option', { name: new RegExp(`Deploy shop.*${short(failedJob.id)}`) })
    .waitFor()
  expect(await heightOf()).toBe(height)
  await press(page, 'Enter')
  await page.waitForURL(world.at(`/jobs/${failedJob.id}`))
  for (const [words, option, path] of [
    ['new task', /Task$/, '/tasks/new'],
    ['schedules', /^Schedules/, '/schedules'],
    ['wall', /Open the wall/, '/wall'],
  ] as const) {
    await press(page, 'Control+k')
    await field.fill(words)
    await page.getByRole('option', { name: option, selected: true }).waitFor()
    await press(page, 'Enter')
    await page.waitForURL(world.at(path))
  }
})

test('the inbox groups alerts, and an approval shows its plan before it can be approved', async () => {
  const gate = await world.api('POST', '/task', {
    name: 'Release gate',
    type: 'approval',
    approvers: ['ada@example.org'],
    four_eyes: false,
    failure_enabled: false,
  })
  await world.api('PATCH', `/task/${deploy.id}`, { triggers: [`task:${gate.id}:success`] })
  await world.api('POST', '/job', { task: gate.id })
  const page = await world.page('/')
  const card = page.getByRole('region', { name: 'Waiting for you' })
  await card.getByText('Deploy-shop.sh').waitFor()
  await card.getByRole('button', { name: 'Approve' }).waitFor()
  expect(await card.getByRole('button', { name: 'Reject' }).count()).toBe(0)
  await page.getByRole('link', { name: /Inbox: \d+ new/ }).click()
  const need = page.locator('[data-row]').filter({ hasText: 'Release gate' })
  const { hostname } = await world.host()
  await need.getByText('Deploy-shop.sh').waitFor()
  await need.getByText(/ expires in \d+ (days|hr\.)/).waitFor()
  await need
    .getByRole('listitem')
    .filter({ hasText: `on ${hostname}` })
    .waitFor()
  await need.getByRole('button', { name: 'Approve' }).waitFor()
  // The task does not offer to reject.
  expect(await need.getByRole('button', { name: 'Reject' }).count()).toBe(0)
  await shoot(page, 'inbox')
  for (let n = 0; n < 2; n++) await waitForEnd(await start(['moon', 'k']))
  await page.goto(world.at('/inbox?all=true'))
  // Three failed jobs of one task.
  const group = page.locator('.inbox-group').filter({ hasText: 'Deploy shop ended in failure' })
  await group.getByRole('button', { name: '2 earlier alerts' }).waitFor()
  expect(await group.count()).toBe(1)
  expect(await group.getAttribute('data-group')).toBe('3')
  // The bell counts the alerts and the approval that is still open.
  const bell = page.getByRole('link', { name: /Inbox: \d+ new/ })
  const onBell = async () => Number(/\d+/.exec((await bell.getAttribute('aria-label'))!)![0])
  await expect.poll(onBell).toBeGreaterThan(3)
  const before = await onBell()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  const unread = async () => (await world.api('GET', '/-/counts')).unread
  await expect.poll(unread).toBe(0)
  await expect.poll(onBell).toBeLessThan(before)
})

test('no page had an error', () => {
  expect(world.pageErrors).toEqual([])
})
