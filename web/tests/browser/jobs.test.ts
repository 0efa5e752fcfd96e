import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { press, until, World } from './world'

let world: World
let parked: { id: string }
let quick: { id: string }
beforeAll(async () => {
  world = await World.start({ demo: false, agent: true })
  // Waits for a release that never comes, so that its jobs stay open.
  parked = await world.script('Parked', '#!/bin/bash\necho ran')
  quick = await world.api('POST', '/task', { name: 'Quick', type: 'dummy', task_arguments: [] })
  for (let n = 0; n < 30; n++)
    await Promise.all(Array.from({ length: 20 }, () => runTask(quick.id)))
})
afterAll(() => world.stop())

const runTask = (task: string) => world.api('POST', '/job', { task, task_arguments: [] })
const wait = (task: string) => world.api('POST', '/job', { task, lifecycle: 'syncing' })
const rows = (page: Page) => page.locator('[data-job]')
const box = (page: Page) => page.locator('.jobs-box')

test('all jobs can be scrolled through, but only the visible ones are drawn', async () => {
  const page = await world.page('/jobs')
  await page.getByText('600 jobs').waitFor()
  await page.locator('[aria-rowcount="601"]').waitFor()
  await until(async () => {
    await box(page).evaluate((list) => list.scrollTo({ top: list.scrollHeight }))
    return page.locator('[aria-rowindex="601"]').isVisible()
  }, 'the last row')
  expect(await rows(page).count()).toBeLessThan(80)
})

test('filters are kept in the address, and Back undoes them', async () => {
  await wait(parked.id)
  const page = await world.page('/jobs')
  // The icon of a running job is animated on the job, not on the filter.
  const turning = (within: string) =>
    page
      .locator(`${within} .spin`)
      .first()
      .evaluate((sign) => getComputedStyle(sign).animationName)
  expect([await turning('[data-job]'), await turning('.jobs-states')]).toEqual(['spin', 'none'])
  await page.getByRole('button', { name: 'Running' }).click()
  await page.waitForURL(/state=running/)
  await until(async () => (await rows(page).count()) === 1, 'one running job')
  await page.getByRole('textbox', { name: 'Name, id, argument, result' }).fill('nothing like it')
  await page.getByText('No jobs in this period').waitFor()
  await page.goBack()
  await until(async () => (await rows(page).count()) === 1, 'the running job again')
  await page.goto(world.at('/jobs?q=parked&from=1h'))
  await until(async () => (await rows(page).count()) === 1, 'one parked job')
})

test('a view stores filters under a name', async () => {
  const page = await world.page('/jobs?state=success&q=quick')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save this view…' }).click()
  await page.getByLabel('Name of the view').fill('Quick ones')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('View saved').waitFor()
  await page.goto(world.at('/jobs'))
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Quick ones' }).click()
  await page.waitForURL(/state=success/)
  expect(new URL(page.url()).searchParams.get('q')).toBe('quick')
})

test('going back restores the scroll position of the list', async () => {
  const page = await world.page('/jobs')
  await rows(page).first().waitFor()
  await box(page).evaluate((list) => list.scrollTo({ top: 4000 }))
  const link = page.locator('[aria-rowindex="108"] .jobs-link')
  await link.waitFor()
  const top = await box(page).evaluate((list) => list.scrollTop)
  const id = await page.locator('[aria-rowindex="108"]').getAttribute('data-job')
  expect(await link.evaluate((anchor: HTMLAnchorElement) => anchor.href)).toBe(
    world.at(`/jobs/${id}`),
  )
  await link.click()
  await page.getByRole('tab', { name: 'Result' }).waitFor()
  await page.goBack()
  await rows(page).first().waitFor()
  await until(
    async () => Math.abs((await box(page).evaluate((list) => list.scrollTop)) - top) < 2,
    'the same place',
  )
})

test('new jobs appear at the top, or behind a button while the reader is further down', async () => {
  const page = await world.page('/jobs?q=quick')
  await rows(page).first().waitFor()
  await page.getByRole('status', { name: 'Live' }).waitFor()
  const first = await rows(page).first().getAttribute('data-job')
  const job = await runTask(quick.id)
  await page.locator(`[data-job="${job.id}"]`).waitFor()
  expect(job.id).not.toBe(first)
  await box(page).evaluate((list) => list.scrollTo({ top: 3000 }))
  await until(async () => (await box(page).evaluate((list) => list.scrollTop)) > 2000, 'the scroll')
  const next = await runTask(quick.id)
  await page.getByRole('button', { name: '1 new' }).click()
  await page.locator(`[data-job="${next.id}"]`).waitFor()
})

test('several jobs are selected by keys and canceled at once', async () => {
  for (let n = 0; n < 4; n++) await wait(parked.id)
  const page = await world.page('/jobs?state=running&q=parked')
  const all = await world.api<unknown[]>('GET', '/job?where[lifecycle]=syncing')
  const count = all.length
  await until(async () => (await rows(page).count()) === count, 'all that wait')
  await press(page, 'j', 'x')
  await page.getByText('1 selected').waitFor()
  await rows(page)
    .nth(count - 1)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  await page.getByText(`${count} selected`).waitFor()
  await page.getByRole('button', { name: /Cancel jobs/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel jobs' }).click()
  await page.getByText(`${count} jobs canceled`).waitFor()
  const remaining = await world.api<unknown[]>('GET', '/job?where[lifecycle]=syncing')
  expect(remaining).toEqual([])
})

test('each row has a menu, by mouse and by key', async () => {
  const page = await world.page('/jobs?q=quick')
  const third = rows(page).nth(2)
  await third.getByRole('button', { name: 'Actions for Quick' }).click()
  await page.getByRole('menuitem', { name: 'Open', exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('menuitem', { name: 'Open', exact: true }).waitFor({ state: 'hidden' })
  await press(page, 'j', '.')
  await page.getByRole('menuitem', { name: 'Open', exact: true }).click()
  await page.getByRole('tab', { name: 'Result' }).waitFor()
})

test('keys pressed in quick succession apply to the same row', async () => {
  const page = await world.page('/')
  await page.goto(world.at('/jobs?q=quick'))
  const second = page.locator('[aria-rowindex="3"][data-job]')
  await second.waitFor()
  await page.evaluate(strike, ['j', 'j', 'x', '.'])
  await page.getByText('1 selected').waitFor()
  await second.and(page.locator('[data-chosen]')).waitFor()
  await page.getByRole('menuitem', { name: 'Open', exact: true }).waitFor()
  await second.getByRole('button', { expanded: true }).waitFor()
})

/** Runs in the page: sends keys faster than the page draws, as on a busy machine. */
async function strike(keys: string[]): Promise<void> {
  for (const key of keys) {
    const message = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
    document.activeElement!.dispatchEvent(message)
    await new Promise((done) => setTimeout(done))
  }
}

test('on a narrow screen a job is a card, and nothing scrolls sideways', async () => {
  const page = await world.page('/jobs', { width: 390, height: 800 })
  await page.locator('.jobs-card-row').first().waitFor()
  await rows(page).first().getByRole('checkbox').click()
  const labels = page.locator('.jobs-bulk .mantine-Button-label')
  await expect.poll(() => labels.count()).toBe(2)
  expect(
    await labels.evaluateAll((all) => all.map((label) => label.scrollWidth > label.clientWidth)),
  ).toEqual([false, false])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})

test('the history is deleted only after the word is typed, and only by admins', async () => {
  const user = await world.member('user')
  const other = await world.page('/jobs', { as: user })
  await other.getByText('No jobs yet').waitFor()
  expect(await other.getByRole('button', { name: 'Delete finished…' }).count()).toBe(0)
  const page = await world.page('/jobs')
  await page.getByRole('button', { name: 'Delete finished…' }).click()
  await page.getByRole('menuitem', { name: 'Delete finished…' }).click()
  const dialog = page.getByRole('dialog')
  const act = dialog.getByRole('button', { name: 'Delete finished jobs' })
  expect(await act.isDisabled()).toBe(true)
  await dialog.getByLabel('Type delete to confirm').fill('delete')
  await act.click()
  await page.getByText(/jobs deleted/).waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
