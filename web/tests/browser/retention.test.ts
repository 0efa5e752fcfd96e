import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { picture, until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

test('the default retention is set once and shown on tasks, and lists say what was removed', async () => {
  const page = await world.page('/settings/retention')
  await page.getByText('No tasks yet.').waitFor()
  const task = await world.script('Kept', '#!/bin/bash\ntrue\n')
  await page.getByLabel('Finished jobs to keep').fill('25')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('the organization’s default').first().waitFor()
  await until(
    async () => (await world.api('GET', `/task/${task.id}`)).history.count === 25,
    'the default of the task',
  )
  await picture(page, 'retention')
  for (let n = 0; n < 2; n++) {
    const job = await world.api('POST', '/job', { task: task.id })
    await until(
      async () => (await world.api('GET', `/job/${job.id}`)).lifecycle === 'finished',
      'the end',
    )
  }
  await world.api('DELETE', `/task/${task.id}/job`)
  await page.goto(world.at(`/tasks/${task.id}/jobs`))
  await page.getByText('Keeps 25 jobs for 90 days, the organization’s default.').waitFor()
  await page.getByText('2 older jobs were removed').waitFor()
  await picture(page, 'task-jobs-removed')
  await page.goto(world.at('/jobs'))
  await page.getByText('2 older jobs were removed').waitFor()
})

test('a task can have its own retention, and use the default again', async () => {
  const task = await world.script('Own', '#!/bin/bash\ntrue\n', { history: { count: 3, days: 4 } })
  const page = await world.page('/settings/retention')
  const row = page.getByRole('listitem').filter({ hasText: 'Own' })
  await row.getByRole('button', { name: 'Use default' }).click()
  await row.getByText('the organization’s default').waitFor()
  await row.getByRole('button', { name: 'Use default' }).waitFor({ state: 'detached' })
  const { history } = await world.api('GET', `/task/${task.id}`)
  expect(history.inherited).toBe(true)
})

test('an owner sees the checks of the installation and what to do', async () => {
  const page = await world.page('/settings/about')
  const checks = page.getByRole('region', { name: 'Checks of the installation' })
  const backup = checks.getByRole('listitem').filter({ hasText: 'No backup by' })
  await backup.getByText('belvedere backup FILE --every 1d').waitFor()
  await backup.getByText('Notice').waitFor()
  await checks.getByRole('listitem').filter({ hasText: 'epoch' }).getByText('OK').waitFor()
  await backup.locator('code', { hasText: 'belvedere backup' }).first().waitFor()
  expect(await backup.innerText()).not.toContain('`')
  // On a phone the advice has the whole width.
  await page.setViewportSize({ width: 390, height: 844 })
  const widthOf = async (box: Locator) => (await box.boundingBox())!.width
  const advice = backup.locator('.settings-wrap')
  await expect
    .poll(async () => (await widthOf(advice)) / (await widthOf(backup)))
    .toBeGreaterThan(0.95)
  await picture(page, 'installation-checks')
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
