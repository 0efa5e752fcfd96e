import { afterAll, beforeAll, expect, test } from 'vitest'
import { OWNER } from './server'
import { until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

// The first steps are a part of the dashboard that is loaded later.
test('a page reloads itself when a script could not be loaded, and the navigation stays', async () => {
  const page = await world.page('/hosts')
  // No server responds, as during a restart.
  const down = ['**/-/health', '**/assets/FirstSteps-*.js']
  for (const address of down) await page.route(address, (route) => route.abort())
  await page.getByRole('link', { name: 'Dashboard' }).click()
  const message = page.getByText('Part of this page could not be loaded')
  await message.waitFor()
  expect(await page.getByRole('link', { name: 'Hosts' }).first().isVisible()).toBe(true)
  for (const address of down) await page.unroute(address)
  await page.getByRole('region', { name: 'First steps' }).waitFor()
  expect(await message.count()).toBe(0)
})

test('changes made elsewhere appear without a reload', async () => {
  const page = await world.page('/')
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await world.api('POST', '/indicator', { title: 'Made elsewhere', type: 'counter', value: 1 })
  await page.getByText('Made elsewhere').waitFor()
})

test('changes made while the stream is still opening are not missed', async () => {
  const page = await world.anonymousPage()
  let letIn = () => {}
  const opened = new Promise<void>((done) => (letIn = done))
  await page.route('**/-/events*', async (route) => {
    await opened
    await route.continue()
  })
  await page.request.post(`${world.url}/api/auth/login`, { data: OWNER })
  await page.goto(world.at('/'))
  const { hostname } = await world.host()
  await page.getByRole('link', { name: hostname }).first().waitFor()
  await world.api('POST', '/indicator', { title: 'Made too early', type: 'text', value: 'x' })
  letIn()
  await page.getByText('Made too early').waitFor()
})

test('a server that stops is reported, and no change is lost when it is back', async () => {
  const page = await world.page('/')
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await world.server.kill('SIGKILL')
  await page.getByRole('status', { name: /Reconnecting|Offline/ }).waitFor()
  await world.server.run()
  await world.api('POST', '/indicator', { title: 'Made in between', type: 'text', value: 'x' })
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await page.getByText('Made in between').waitFor()
})

test('two tabs share one stream, and the second takes over from the first', async () => {
  const first = await world.page('/')
  // Its own request may still be open when the page is shown.
  await first.getByRole('status', { name: 'Live' }).waitFor()
  const requests: string[] = []
  first.context().on('request', (request) => {
    if (request.url().includes('/-/events')) requests.push(request.url())
  })
  const second = await first.context().newPage()
  await second.goto(world.at('/'))
  // The first tab reports the state of the stream to it.
  await second.getByRole('status', { name: 'Live' }).waitFor()
  await world.api('POST', '/indicator', { title: 'For both tabs', type: 'text', value: 'x' })
  await second.getByText('For both tabs').waitFor()
  expect(requests).toEqual([])
  await first.close()
  await until(async () => requests.length > 0, 'the second tab listening itself')
  await world.api('POST', '/indicator', { title: 'After the first', type: 'text', value: 'x' })
  await second.getByText('After the first').waitFor()
})

test('where streams are buffered the page polls', async () => {
  const page = await world.anonymousPage()
  await page.route('**/-/events*', (route) => route.abort())
  await page.request.post(`${world.url}/api/auth/login`, {
    data: OWNER,
  })
  await page.goto(world.at('/'))
  await page.getByRole('status', { name: 'Polling' }).waitFor()
  await world.api('POST', '/indicator', { title: 'Found by looking', type: 'text', value: 'x' })
  await page.getByText('Found by looking').waitFor()
})

test('a session that is ended elsewhere leads to the sign-in page', async () => {
  const page = await world.page('/')
  await page.getByRole('status', { name: 'Live' }).waitFor()
  const cookies = await page.context().cookies()
  const token = cookies.find((cookie) => cookie.name.includes('belvedere'))!.value
  await fetch(`${world.url}/api/session/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  // The page notices it at the next event, or after a timeout.
  await world.api('POST', '/indicator', { title: 'Not for them', type: 'text', value: 'x' })
  await page.waitForURL(/\/ui\/login/)
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors.filter((error) => !/ERR_|Failed to fetch/.test(error))).toEqual([])
})
