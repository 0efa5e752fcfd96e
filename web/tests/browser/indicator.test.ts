import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CUSTOMER, OWNER } from './server'
import { PATIENCE_MS, until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

const CHART = {
  kind: 'bar',
  unit: 'ms',
  labels: ['Mon', 'Tue', 'Wed'],
  series: [
    { name: 'shop', values: [120, 131.5, 118] },
    { name: 'stock', values: [80, null, 95] },
  ],
}
/** Each part tries to run, load or send something. */
function hostile(abroad = 'https://evil.test') {
  return `<p>harmless words</p><script>top.canary = 1</script>
<img src="${abroad}/x.png" onerror="top.canary = 2"><svg onload="top.canary = 3"></svg>
<a href="javascript:top.canary=4">a link</a><iframe src="${abroad}"></iframe>
<form action="${abroad}"><input name="password"><button>send</button></form>
<style>@import '${abroad}/x.css'</style><meta http-equiv="refresh" content="0;url=${abroad}">`
}

/** Another server, and the requests that it received: what the browser reports about a request says
 * nothing about whether it left. */
async function another() {
  const requests: string[] = []
  const server = createServer((request, answer) => {
    requests.push(request.url ?? '')
    answer.end('x')
  })
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  return { requests, server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function tile(page: Page, title: string) {
  return page.getByRole('article').filter({ hasText: title })
}

/** Whether a chart is drawn: its canvas is not of one colour. */
function isDrawn(page: Page, title: string): Promise<boolean> {
  return tile(page, title)
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas
      if (!width || !height) return false
      const pixels = canvas.getContext('2d')!.getImageData(0, 0, width, height).data
      return new Set(new Uint32Array(pixels.buffer)).size > 3
    })
}

test('a chart is drawn, and redrawn when its source pushes a value', async () => {
  const page = await world.page('/')
  const body = { title: 'Response time', type: 'chart', value: CHART }
  const indicator = await world.api('POST', '/indicator', body)
  const picture = tile(page, 'Response time').getByRole('img', { name: /shop 118 ms/ })
  await picture.waitFor()
  await until(() => isDrawn(page, 'Response time'), 'a drawn chart')
  await tile(page, 'Response time').getByText('95 ms').waitFor()
  const next = { kind: 'line', unit: 'ms', series: [{ name: 'shop', values: [1, 2, 77] }] }
  await world.api('PATCH', `/indicator/${indicator.id}`, { value: next })
  await tile(page, 'Response time').getByText('77 ms').waitFor()
  await until(() => isDrawn(page, 'Response time'), 'a chart that is drawn anew')
})

test('figures of Plotly are drawn, or shown as a table', async () => {
  const page = await world.page('/')
  const push = (title: string, value: unknown) =>
    world.api('POST', '/indicator', { title, type: 'chart', value })
  const bars = [{ x: ['Mon', 'Tue'], y: [3, 8], name: 'orders' }]
  await push('Plotly bars', { type: 'bar', data: bars })
  await tile(page, 'Plotly bars')
    .getByRole('img', { name: /orders 8/ })
    .waitFor()
  await until(() => isDrawn(page, 'Plotly bars'), 'drawn bars')
  const pie = [{ type: 'pie', labels: ['red', '<img src=x>'], values: [1, 3] }]
  await push('Plotly pie', { data: pie, layout: { title: 'Share' } })
  const drawing = tile(page, 'Plotly pie').getByRole('img', { name: /red 1 \(25 %\)/ })
  await drawing.waitFor()
  expect(await drawing.locator('path').count()).toBe(2)
  await tile(page, 'Plotly pie').getByText('<img src=x>').waitFor()
  await push('Plotly map', { data: [{ type: 'heatmap', z: [[1, 20], [300]] }] })
  await tile(page, 'Plotly map').getByRole('cell', { name: '[1,20]' }).waitFor()
})

test('HTML is shown, and nothing in it is executed', async () => {
  const page = await world.page('/')
  await world.api('POST', '/indicator', { title: 'Duty', type: 'html', value: hostile() })
  const frame = tile(page, 'Duty').frameLocator('iframe')
  await frame.getByText('harmless words').waitFor()
  expect(await frame.locator('script, iframe, form, input, meta[http-equiv=refresh]').count()).toBe(
    0,
  )
  expect(await frame.getByText('a link').getAttribute('href')).toBeNull()
  expect(await page.evaluate(() => 'canary' in window)).toBe(false)
  await world.api('PATCH', '/indicator/title/Duty', { value: '<b>Grace</b>' })
  await frame.locator('b', { hasText: 'Grace' }).waitFor()
})

test('HTML that the server did not clean is not executed either', async () => {
  await world.api('PUT', '/indicator/title/Missed', { type: 'html', value: '<i>x</i>' })
  // Its errors do not count: the browser logs what it blocks here.
  const context = await world.browser.newContext()
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const { requests, server, address } = await another()
  const value = hostile(address)
  await page.route('**/-/board/indicators*', async (route) => {
    const answer = await route.fetch()
    const rows: { title: string; value: unknown }[] = await answer.json()
    const json = rows.map((row) => (row.title === 'Missed' ? { ...row, value } : row))
    await route.fulfill({ response: answer, json })
  })
  await page.request.post(`${world.url}/api/auth/login`, { data: OWNER })
  await page.goto(`${world.url}/ui/${CUSTOMER}`)
  const frame = tile(page, 'Missed').frameLocator('iframe').first()
  await frame.getByText('harmless words').waitFor()
  // The form is present this time, and cannot be sent.
  await frame.getByRole('button', { name: 'send' }).click()
  await frame.getByText('a link').click()
  await frame.getByText('harmless words').waitFor()
  expect(await page.evaluate(() => 'canary' in window)).toBe(false)
  expect(requests).toEqual([])
  expect(page.url()).toContain(`/ui/${CUSTOMER}`)
  await context.close()
  server.close()
})

test('a file shows its first lines and can be downloaded', async () => {
  const stored = await world.api('POST', '/file', {
    filename: 'report.txt',
    source: `first line\n${'x'.repeat(9_000)}`,
  })
  await world.api('POST', '/indicator', { title: 'Last report', type: 'file', value: stored.id })
  const page = await world.page('/')
  const report = tile(page, 'Last report')
  await report.getByText('first line').waitFor()
  await report.getByText('report.txt').waitFor()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    report.getByRole('link', { name: 'Download' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('report.txt')
  const chunks: Buffer[] = []
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).length).toBe(9_011)
})

test('the form creates each kind, and says what is wrong with a chart', async () => {
  const page = await world.page('/indicators/new')
  await page.getByRole('textbox', { name: 'Title' }).fill('Made here')
  await page.getByRole('combobox', { name: 'Kind' }).click()
  await page.getByRole('option', { name: 'Chart' }).click()
  const value = page.getByRole('textbox', { name: 'Value' })
  const sample = await value.inputValue()
  await value.fill(sample.replace('"line"', '"pie"'))
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByText('value.kind: Must be one of line, bar.').waitFor()
  await value.fill(sample)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('img', { name: /^Made here: shop 4/ }).waitFor()
})

test('the wall shows indicators, and a phone does not scroll sideways', async () => {
  for (const [path, width] of [
    ['/wall', 1440],
    ['/wall', 390],
    ['/', 390],
  ] as const) {
    const page = await world.anonymousPage({ width, height: 900, scheme: 'dark' })
    await page.request.post(`${world.url}/api/auth/login`, { data: OWNER })
    await page.goto(world.at(path))
    await tile(page, 'Duty').frameLocator('iframe').getByText('Grace').waitFor()
    await until(() => isDrawn(page, 'Response time'), 'a drawn chart')
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    )
  }
  expect(world.pageErrors).toEqual([])
})
