import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Options, PROGRAM } from './server'
import { World } from './world'

const options: Options = {}
let world: World
beforeAll(async () => {
  world = await World.start(options)
})
afterAll(async () => {
  await world.stop()
})

/**
 * As after a restored backup: the waiting job may have run. The agent is not started: its journal
 * would prove that nothing ran.
 */
async function restore(): Promise<void> {
  await world.server.kill()
  const words = ['mark-restored', '--data', join(world.server.folder, 'data')]
  const done = spawnSync(PROGRAM, words, {
    env: { PATH: process.env.PATH, HOME: world.server.folder, LANG: 'C.UTF-8' },
  })
  expect(done.status, String(done.stderr)).toBe(0)
  options.agent = false
  await world.server.run()
}

test('the list and the page of a host say which jobs are held after a restore, and what to do', async () => {
  const { id, hostname } = await world.host()
  await world.api('PUT', `/host/${id}/disable`)
  const task = (await world.api('GET', '/task')).find(
    (task: { type: string; task_arguments: unknown[] }) =>
      task.type === 'script' && task.task_arguments.length === 0,
  )
  const job = await world.api('POST', '/job', { task: task.id })
  await restore()
  const list = await world.page('/hosts')
  await list
    .locator(`[data-host="${hostname}"]`)
    .getByText(
      '1 job has been held since the database was restored. Open the host to see what to do.',
    )
    .waitFor()
  await list.getByRole('link', { name: hostname }).click()
  await list.getByText('1 job has been held since the database was restored').waitFor()
  await list.getByText('belvedere job release JOB (or --all)').waitFor()
  await list.getByText('No jobs until the agent connects').waitFor()
  await list.getByRole('link', { name: 'Show held jobs' }).click()
  const section = list.getByRole('region', { name: 'Held jobs' })
  await section.getByText('1 held job', { exact: true }).waitFor()
  const row = list.locator(`[data-job="${job.id}"]`)
  await row.getByText('The agent has not connected since the restore.').waitFor()

  const spanish = await world.page(`/hosts/${id}`, { language: 'es' })
  await spanish
    .getByText('1 trabajo está retenido desde que se restauró la base de datos')
    .waitFor()

  await spanish.goto(world.at('/jobs/held'))
  await spanish.getByText('El agente no se ha conectado desde la restauración.').waitFor()

  // No job is held after the release.
  await row.getByRole('button', { name: `Release ${job.name}` }).click()
  const dialog = list.getByRole('dialog', { name: `Release ${job.name}?` })
  await dialog.getByText('it runs a second time').waitFor()
  await dialog.getByRole('button', { name: 'Release' }).click()
  await list.getByText('No held jobs').waitFor()
  expect((await world.api('GET', `/job/${job.id}`)).lifecycle).toBe('ready')
  await list.goto(world.at(`/hosts/${id}`))
  await list.getByRole('heading', { level: 1, name: hostname }).waitFor()
  await list.getByText('No jobs until the agent connects').waitFor()
  expect(await list.getByText('has been held since the database was restored').count()).toBe(0)
  expect(world.pageErrors).toEqual([])
})

test('all held jobs are released at once, after a word is typed', async () => {
  const task = (await world.api('GET', '/task')).find(
    (task: { type: string; task_arguments: unknown[] }) =>
      task.type === 'script' && task.task_arguments.length === 0,
  )
  const job = await world.api('POST', '/job', { task: task.id })
  await restore()
  const page = await world.page(`/jobs/${job.id}`)
  await page.getByRole('link', { name: 'Show all held jobs' }).click()
  await page.getByRole('button', { name: 'Release all' }).click()
  const dialog = page.getByRole('dialog', { name: 'Release 2 held jobs?' })
  await dialog.getByRole('textbox').fill('release')
  await dialog.getByRole('button', { name: 'Release all' }).click()
  await page.getByText('No held jobs').waitFor()
  expect(world.pageErrors).toEqual([])
})
