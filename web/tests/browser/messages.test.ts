import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

test('a viewer is not asked to run a first task', async () => {
  const page = await world.page('/', { as: await world.member('viewer') })
  await page.getByRole('region', { name: 'Recent jobs' }).getByText('No jobs yet').waitFor()
  expect(await page.getByText('Run your first task').count()).toBe(0)
  await page.goto(world.at('/tasks'))
  await page.getByText('No tasks yet').waitFor()
  expect(await page.getByText('Run your first task').count()).toBe(0)
})

test('a check that cannot connect says so', async () => {
  const { id: host } = await world.host()
  const fields = { name: 'Mail', type: 'tcp', host_id: host, looptime: 600_000 }
  const config = { target: '127.0.0.1', port: 9 }
  const { id } = await world.api('POST', '/monitor', { ...fields, config })
  const page = await world.page(`/monitors/${id}`)
  const sentence = 'Connection refused at 127.0.0.1 port 9: nothing accepts connections there.'
  await page.getByText(sentence).first().waitFor()
  expect(await page.getByText('Connect call failed').count()).toBe(0)

  const parts = [{ name: 'Mail', monitor_id: id }]
  await world.api('POST', '/statuspage', { title: 'Acme', slug: 'acme', parts })
  const visitor = await world.anonymousPage()
  await visitor.goto(`${world.url}/ui/status/acme`)
  // One minute of data is not enough for an uptime of 90 days.
  await visitor.getByText(/^0 % in 24 h · 0 % since /).waitFor()
  expect(await visitor.getByText('in 90 days').count()).toBe(0)
})

test('an argument is numbered in an error as in the table', async () => {
  const script = await world.script('Deploy', '#!/bin/bash\ntrue\n')
  const task_arguments = [{ type: 'input', label: 'version', required: true }]
  await world.api('PATCH', `/task/${script.id}`, { task_arguments })
  const hook = await world.api('POST', '/webhook', { name: 'Push', tasks: [script.id] })
  const page = await world.page(`/webhooks/${hook.id}`)
  const row = page.getByRole('row').filter({ hasText: 'version' })
  await row.getByRole('cell', { name: '1', exact: true }).waitFor()
  await page.locator('.cm-content').fill('[""]')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('alert').filter({ hasText: 'Argument 1 (version) is required.' }).waitFor()
})

test('each example of the audit filter has results', async () => {
  await world.api('POST', '/api/token', { name: 'ci' })
  const page = await world.page('/audit')
  const filter = page.locator('.audit-filters input[placeholder]')
  const placeholder = (await filter.getAttribute('placeholder'))!.replace('e.g. ', '')
  const examples = placeholder.match(/[a-z]+\.[a-z]*/g)!
  expect(examples.length).toBe(2)
  for (const example of examples) {
    const rows = await world.api<unknown[]>('GET', `/api/audit?action=${example}`)
    expect(rows.length, example).toBeGreaterThan(0)
  }
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
