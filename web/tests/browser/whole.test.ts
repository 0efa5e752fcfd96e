import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

/** A little more than a page of each. */
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
    ])
  }
})
afterAll(() => world.stop())

test('the list of hosts goes on to the last one', async () => {
  const page = await world.page('/hosts')
  await page.getByText(`${MANY} hosts`).waitFor()
  await until(async () => {
    await page.locator('.host-row').last().scrollIntoViewIfNeeded()
    return (await page.locator('.host-row').count()) === MANY
  }, 'the last host')
  await page.getByRole('link', { name: 'host-204' }).waitFor()
  expect(await page.getByRole('button', { name: /^Show .*more/ }).count()).toBe(0)
})

test('dashboard and wall say how much they leave out, lead there, and show the worst', async () => {
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

test('looking for a workflow looks at all of them', async () => {
  const page = await world.page('/workflows?q=flow%20204')
  await page.getByRole('heading', { name: `${MANY} workflows` }).waitFor()
  await page.getByRole('link', { name: 'flow 204' }).waitFor()
})

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
