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
  await list.getByRole('link', { name: job.name }).first().waitFor()
  expect(new URL(list.url()).searchParams.get('state')).toBe('waiting')

  const spanish = await world.page(`/hosts/${id}`, { language: 'es' })
  await spanish
    .getByText('1 trabajo está retenido desde que se restauró la base de datos')
    .waitFor()

  // No job is held after the release.
  await world.api('PUT', `/job/${job.id}/release`)
  await list.goto(world.at(`/hosts/${id}`))
  await list.getByRole('heading', { level: 1, name: hostname }).waitFor()
  await list.getByText('No jobs until the agent connects').waitFor()
  expect(await list.getByText('has been held since the database was restored').count()).toBe(0)
  expect(world.pageErrors).toEqual([])
})
