import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

test('a cron expression is explained, with the next five runs in two time zones', async () => {
  const task = await world.script('Nightly', '#!/bin/bash\ntrue\n')
  const page = await world.page(`/schedules/new?task=${task.id}`, { zone: 'America/New_York' })
  await page.getByLabel('Cron expression').first().fill('30 2 * * *')
  await page.getByText('At 02:30').waitFor()
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berlin')
  await page.getByRole('option', { name: 'Europe/Berlin' }).click()
  const table = page.getByRole('table', { name: 'Next runs' })
  await table.getByText('Your time (America/New_York)').waitFor()
  await table.getByText('Schedule (Europe/Berlin)').waitFor()
  await table.getByText(/02:30/).first().waitFor()
  await expect.poll(() => table.getByRole('row').count()).toBe(6)
  // In the reader's own zone both clocks are the same.
  await page.getByRole('combobox', { name: 'Time zone' }).fill('America/New_York')
  await page.getByRole('option', { name: 'America/New_York' }).click()
  await expect.poll(() => table.getByRole('columnheader').count()).toBe(1)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.waitForURL(/\/schedules\/[0-9a-f]{24}$/)
})

test('Enter in a field of a new schedule creates it, as in every form', async () => {
  const task = await world.script('By Enter', '#!/bin/bash\ntrue\n')
  const page = await world.page(`/schedules/new?task=${task.id}`)
  await page.getByRole('textbox', { name: 'Name' }).fill('Typed')
  await page
    .getByRole('button', { name: 'Create', exact: true })
    .and(page.locator(':enabled'))
    .waitFor()
  await page.getByRole('textbox', { name: 'Name' }).press('Enter')
  await page.waitForURL(/\/schedules\/[0-9a-f]{24}$/)
  // The address changes first: until the page of the schedule is loaded, the new one is visible.
  await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('Typed again')
  await page.getByRole('textbox', { name: 'Name' }).press('Enter')
  await page.getByText('Saved', { exact: true }).waitFor()
})

test('a clock change is marked where it moves a run', async () => {
  // A yearly run in the hour that Berlin skips, on the day of the change of next spring.
  const spring = lastSundayOfMarch(new Date().getUTCFullYear() + 1)
  const task = await world.script('In the gap', '#!/bin/bash\ntrue\n')
  const page = await world.page(`/schedules/new?task=${task.id}`)
  await page.getByLabel('Cron expression').first().fill('30 2 25-31 3 *')
  await page.getByLabel('Not before (optional)').fill(`${spring}T00:00`)
  await page.getByText('The clocks skip').waitFor()
})

function lastSundayOfMarch(year: number): string {
  const day = new Date(Date.UTC(year, 2, 31))
  day.setUTCDate(31 - day.getUTCDay())
  return day.toISOString().slice(0, 10)
}

test('the strip of a frequent schedule is empty on days without runs', async () => {
  const task = await world.script('Office hours', '#!/bin/bash\ntrue\n')
  const schedule = { repeatEvery: '*/5 * * * mon-fri', timezone: 'UTC', name: 'Office hours' }
  await world.api('POST', `/task/${task.id}/schedule`, schedule)
  const page = await world.page('/schedules', { zone: 'UTC' })
  await page.getByText('*/5 * * * mon-fri · UTC').waitFor()
  const bands = page.locator('.sched-strip [data-band]')
  await expect.poll(() => bands.count()).toBeGreaterThan(40)
  const times = await bands.evaluateAll((rects) =>
    rects.map((rect) => rect.getAttribute('data-band')!),
  )
  const days = new Set(times.map((at) => new Date(at).getUTCDay()))
  expect([days.has(0), days.has(6)]).toEqual([false, false])
  expect(days.has(1)).toBe(true)
})

test('an invalid cron expression is refused at its field', async () => {
  const task = await world.script('Wrong', '#!/bin/bash\ntrue\n')
  const page = await world.page(`/schedules/new?task=${task.id}`)
  await page.getByLabel('Cron expression').first().fill('61 25 * * *')
  await page.getByRole('alert').waitFor()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page
    .getByText(/neither a cron expression nor an interval/)
    .first()
    .waitFor()
  expect(page.url()).toContain('/schedules/new')
})

test('a schedule is paused with an end and a reason, and resumed', async () => {
  const task = await world.script('Paused', '#!/bin/bash\ntrue\n')
  const schedule = await world.api('POST', `/task/${task.id}/schedule`, {
    repeatEvery: '0 7 * * *',
    name: 'Every morning',
  })
  const page = await world.page(`/schedules/${schedule.id}`)
  await page.getByRole('button', { name: 'Pause' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Until (optional)').fill(`${new Date().getFullYear() + 1}-01-31T08:00`)
  await dialog.getByLabel('Reason').fill('freeze')
  await dialog.getByRole('button', { name: 'Pause' }).click()
  await page.getByText(/Paused since .*freeze/).waitFor()
  const pause = async () => (await world.api('GET', `/schedule/${schedule.id}`)).pause
  await expect.poll(pause).toMatchObject({ note: 'freeze' })
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await expect.poll(pause).toBeNull()
})

test('Ctrl+Enter in the pause dialog pauses the schedule and does not save the page', async () => {
  const task = await world.script('Paused by key', '#!/bin/bash\ntrue\n')
  const { id } = await world.api('POST', `/task/${task.id}/schedule`, {
    repeatEvery: '0 7 * * *',
    name: 'Every morning',
  })
  const page = await world.page(`/schedules/${id}`)
  await page.getByRole('textbox', { name: 'Name' }).fill('Unsaved name')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('by key')
  await page.keyboard.press('Control+Enter')
  await page.getByText(/Paused since .*by key/).waitFor()
  expect(await world.api('GET', `/schedule/${id}`)).toMatchObject({ name: 'Every morning' })
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
