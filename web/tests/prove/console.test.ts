import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from '../browser/world'
import { during, printFrames, scrollFrames } from './frames'
import { many } from './much-data'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

test('10,000 jobs scroll', async () => {
  const task = await world.script('one of many', 'true\n', { concurrency: 16 })
  await many(10_000, () => world.api('POST', '/job', { task: task.id }))
  await until(
    async () => (await world.api('GET', '/-/counts')).jobs.queued === 0,
    'all jobs done',
  ).catch(() => {})
  const page = await world.page('/jobs')
  await page.getByText('one of many').first().waitFor()
  printFrames(
    'jobs: 10,000 rows, 5000 px/s',
    'p50 <= 17, p95 <= 34',
    await scrollFrames(page, '.jobs-box'),
  )
  await page.context().close()
})

test('a log of 100,000 lines scrolls, and follows 5,000 lines a second', async () => {
  const task = await world.script(
    'long log',
    'for i in $(seq 100000); do echo "line $i of a long log with some words in it"; done\n',
  )
  const job = await world.api('POST', '/job', { task: task.id })
  await until(
    async () => (await world.api('GET', `/job/${job.id}`)).lifecycle === 'finished',
    'the end of the job',
  )
  const page = await world.page(`/jobs/${job.id}`)
  await page.getByRole('log').waitFor()
  await page.locator('[data-mark="complete"]').waitFor()
  printFrames(
    'log: 100,000 lines, 5000 px/s',
    'p50 <= 17, p95 <= 34',
    await scrollFrames(page, '[role="log"]'),
  )
  const heap = await page.evaluate(() => (performance as any).memory?.usedJSHeapSize ?? 0)
  process.stdout.write(`log: heap ${(heap / 1e6).toFixed(0)} MB (<= 100)\n`)
  await page.context().close()
  const live = await world.script(
    'fast log',
    'for i in $(seq 100); do seq 500 | sed "s/^/fast line /"; sleep 0.1; done\n',
  )
  const running = await world.api('POST', '/job', { task: live.id })
  const follower = await world.page(`/jobs/${running.id}`)
  await follower.getByText('fast line').first().waitFor()
  const frames = await during(follower, async () => {
    await until(
      async () => (await world.api('GET', `/job/${running.id}`)).lifecycle === 'finished',
      'the end',
    )
  })
  printFrames('log: following 5,000 lines/s', 'p95 <= 34', frames)
  await follower.context().close()
})

test('500 events a second for ten seconds', async () => {
  const indicators: { id: string }[] = []
  for (let n = 0; n < 20; n++)
    indicators.push(
      await world.api('POST', '/indicator', { title: `burst ${n}`, type: 'counter', value: 0 }),
    )
  const page = await world.page('/')
  await page.getByText('burst 0').waitFor()
  const begun = Date.now()
  let events = 0
  const frames = await during(page, () =>
    many(5_000, async (n) => {
      await world.api('PATCH', `/indicator/${indicators[n % 20]!.id}/increase`, {})
      events += 1
    }),
  )
  printFrames(
    `events: ${Math.round((events * 1000) / (Date.now() - begun))} a second`,
    'the page answers',
    frames,
  )
  await page.getByRole('link', { name: 'Jobs', exact: true }).click()
  await page.waitForURL(world.at('/jobs'))
  await page.context().close()
})

test('2,000 monitors are listed', async () => {
  const host = await world.host()
  await many(2_000, (n) =>
    world.api('POST', '/monitor', {
      name: `monitor ${n}`,
      type: 'push',
      host_id: host.id,
      looptime: 3_600_000,
    }),
  )
  const page = await world.page('/')
  const begun = Date.now()
  await page.goto(world.at('/monitors'))
  await page.getByText('monitor ').first().waitFor()
  process.stdout.write(`monitors: 2,000, first rows after ${Date.now() - begun} ms (<= 1000)\n`)
  printFrames(
    'monitors: 2,000 rows, 5000 px/s',
    'p95 <= 34',
    await scrollFrames(page, '.mon-scroll'),
  )
  await page.context().close()
})

test('a graph of 150 nodes is laid out and dragged', async () => {
  const task = await world.script('node', 'true\n')
  const nodes = Array.from({ length: 150 }, (_, n) => ({ id: `n${n}`, task_id: task.id }))
  const edges = nodes
    .slice(1)
    .map((node, n) => ({ source: `n${Math.floor(n / 2)}`, target: node.id }))
  const workflow = await world.api('POST', '/workflows', {
    name: 'large',
    start: 'n0',
    graph: { nodes, edges },
  })
  const page = await world.page(`/workflows/${workflow.id}/graph?edit=true`)
  const begun = Date.now()
  await page.locator('.react-flow__node').first().waitFor()
  process.stdout.write(`graph: 150 nodes drawn ${Date.now() - begun} ms after the page\n`)
  expect(await page.locator('.react-flow__node').count()).toBe(150)
  const node = (await page.locator('.react-flow__node').nth(40).boundingBox())!
  await page.mouse.move(node.x + 5, node.y + 5)
  await page.mouse.down()
  const frames = await during(page, async () => {
    for (let step = 0; step < 120; step++)
      await page.mouse.move(node.x + 5 + step * 2, node.y + 5 + step)
  })
  await page.mouse.up()
  printFrames('graph: dragging one of 150 nodes', '50 frames/s', frames)
  await page.context().close()
})
