import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { picture, World } from './world'

let world: World
let receiver: Server
let status = 200
const bodies: string[] = []
const address = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (data) => (body += data))
    request.on('end', () => {
      bodies.push(body)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  world = await World.start({ demo: false, env: { BELVEDERE_INNER_NETWORKS: '127.0.0.0/8' } })
})
afterAll(async () => {
  await world.stop()
  receiver.close()
})

const SERVICES = [
  ...['E-mail', 'Slack', 'Microsoft Teams', 'Telegram', 'Discord', 'ntfy', 'Pushover', 'Gotify'],
  ...['Mattermost', 'PagerDuty', 'Opsgenie', 'Webhook'],
]

test('the wizard reports a failed test with the reason, then a sent one, and creates the rule', async () => {
  const page = await world.page('/settings/notifications')
  await page.getByText('Nobody is notified', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'New channel' }).click()
  await picture(page, 'wizard-services')
  const dialog = page.getByRole('dialog')
  for (const name of SERVICES) await dialog.getByRole('button', { name, exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Webhook', exact: true }).click()
  await dialog.getByLabel('Webhook URL').fill(address())
  await dialog.getByLabel('Name of the channel').fill('ops')
  status = 404
  await dialog.getByRole('button', { name: 'Create and send test' }).click()
  await dialog.getByText('Not sent: the test message for ops failed.').waitFor()
  await dialog.getByText(/responded with 404.*Check the path/).waitFor()
  await picture(page, 'wizard-failed')
  status = 200
  await dialog.getByRole('button', { name: 'Save and test again' }).click()
  await dialog.getByText('Sent: the service accepted the test message for ops.').waitFor()
  expect(bodies.at(-1)).toContain('Test message for the channel ops')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('Nobody is notified', { exact: true }).waitFor({ state: 'hidden' })
  const [rule] = await world.api('GET', '/notify/rule')
  expect(rule).toMatchObject({ name: 'Alerts to ops', enable: true, kinds: [], objects: [] })
  await picture(page, 'notifications')
})

test('a test message from the list is red if it was not delivered', async () => {
  const page = await world.page('/settings/notifications')
  status = 500
  await page.getByRole('button', { name: 'Send a test' }).first().click()
  await page.getByText('Not sent: the test message for ops failed.').waitFor()
  expect(await page.getByText('Sent: the service accepted').count()).toBe(0)
})

test('the forms of a monitor and a task say who is notified', async () => {
  const task = await world.script('Watched', '#!/bin/bash\ntrue\n')
  const page = await world.page('/monitors/new?kind=scraper')
  await page.getByText('A failure is sent to ops.').waitFor()
  const [rule] = await world.api('GET', '/notify/rule')
  await world.api('PATCH', `/notify/rule/${rule.id}`, { enable: false })
  await page.goto(world.at('/monitors/new?kind=scraper'))
  await page.getByText('Nobody is notified of a failure.').waitFor()
  await page.getByRole('link', { name: 'Set up notifications' }).waitFor()
  await page.goto(world.at(`/tasks/${task.id}`))
  await page.getByText('Nobody is notified of a failure.').waitFor()
})

test('a monitor and a task choose a channel of their own', async () => {
  const channel = await world.api('POST', '/notify/channel', { name: 'night', url: address() })
  const page = await world.page('/monitors/new?kind=tcp')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Database')
  await page.getByLabel('Name or address').fill('127.0.0.1')
  await page.getByRole('combobox', { name: 'Also notify' }).click()
  await page.getByRole('option', { name: 'night' }).click()
  await page.getByText('A failure is sent to night.').waitFor()
  await page.keyboard.press('Escape')
  await picture(page, 'monitor-notify')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.waitForURL(/\/monitors\/[0-9a-f]{24}$/)
  const id = new URL(page.url()).pathname.split('/').at(-1)!
  const rulesOf = async (objectId: string) =>
    (await world.api<any[]>('GET', '/notify/rule')).filter(({ objects }) => objects[0] === objectId)
  expect(await rulesOf(id)).toMatchObject([{ channels: [channel.id], enable: true, kinds: [] }])

  await page.goto(world.at(`/monitors/${id}/settings`))
  await page.getByText('A failure is sent to night.').waitFor()
  await page.getByRole('combobox', { name: 'Also notify' }).click()
  await page.getByRole('option', { name: 'night' }).click()
  await page.getByText('Nobody is notified of a failure.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => rulesOf(id)).toEqual([])

  const task = await world.script('Chosen', '#!/bin/bash\ntrue\n')
  await page.goto(world.at(`/tasks/${task.id}`))
  await page.getByRole('combobox', { name: 'Also notify' }).click()
  await page.getByRole('option', { name: 'night' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await rulesOf(task.id)).length).toBe(1)
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
