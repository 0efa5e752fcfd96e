import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pictures, World } from './world'

let world: World
/** A web server that a test can switch between up and down. */
let site: HttpServer
let isUp = true
beforeAll(async () => {
  world = await World.start()
  site = createServer((_ask, answer) => {
    answer.writeHead(isUp ? 200 : 500).end('hello')
  })
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done))
})
afterAll(async () => {
  site.close()
  await world.stop()
})

function tile(page: Page, title: string) {
  return page.getByRole('article').filter({ hasText: title })
}

async function menu(page: Page, title: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${title}`, exact: true }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

describe('indicators', () => {
  test('tiles of every kind appear, change and disappear without a reload', async () => {
    const page = await world.page('/')
    await tile(page, 'Welcome').waitFor()
    const title = 'A/B 50 % done 🚀'
    const indicator = await world.api('POST', '/indicator', { title, type: 'counter', value: 5 })
    await world.api('POST', '/indicator', { title: 'Rollout', type: 'progress', value: 30 })
    await world.api('POST', '/indicator', { title: 'On duty', type: 'text', value: 'Grace' })
    await tile(page, title).getByText('5', { exact: true }).waitFor()
    await tile(page, 'On duty').getByText('Grace').waitFor()
    expect(await tile(page, 'Rollout').getByRole('progressbar').getAttribute('aria-valuenow')).toBe(
      '30',
    )

    await world.api('PATCH', `/indicator/title/${encodeURIComponent(title)}`, { value: 8 })
    await tile(page, title).getByText('8', { exact: true }).waitFor()
    await menu(page, title, 'Increase')
    await tile(page, title).getByText('9', { exact: true }).waitFor()
    await menu(page, title, 'Decrease')
    await tile(page, title).getByText('8', { exact: true }).waitFor()
    await menu(page, title, 'Reset to 1')
    await tile(page, title).getByText('1', { exact: true }).waitFor()
    // The tile shows the new value before the server has stored it.
    const storedIndicator = () => world.api('GET', `/indicator/${indicator.id}`)
    await expect.poll(storedIndicator).toMatchObject({ value: 1 })

    await menu(page, title, 'Dismiss')
    await tile(page, title).waitFor({ state: 'detached' })
  })

  test('a failing tile moves to the top, red or yellow', async () => {
    const page = await world.page('/')
    await tile(page, 'Welcome').waitFor()
    const low = await world.api('POST', '/indicator', {
      title: 'Low one',
      type: 'text',
      state: 'failure',
      severity: 'LOW',
    })
    await page.locator('article[data-look="warn"]').first().waitFor()
    const first = page.getByRole('article').first()
    await expect.poll(() => first.getAttribute('aria-label')).toContain('Low one')
    await world.api('PATCH', `/indicator/${low.id}`, { severity: 'HIGH' })
    await page.locator('article[data-look="fail"]').first().waitFor()
    await world.api('PATCH', `/indicator/${low.id}/state`, { state: 'normal' })
    await page.locator('article[data-look="fail"]').waitFor({ state: 'detached' })
  })

  test('a read-only tile cannot be dismissed, and other people see only permitted tiles', async () => {
    const uma = await world.member('user')
    await world.api('POST', '/indicator', {
      title: 'Fixed',
      type: 'text',
      acl: [uma.email],
      read_only: true,
    })
    await world.api('POST', '/indicator', { title: 'Loose', type: 'counter', acl: [uma.email] })
    await world.api('POST', '/indicator', { title: 'Secret one', type: 'text' })
    const page = await world.page('/', { as: uma })
    await tile(page, 'Fixed').waitFor()
    expect(await tile(page, 'Secret one').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Actions for Fixed' }).count()).toBe(0)
    // A user may dismiss an indicator that names them, but not change its counter.
    await page.getByRole('button', { name: 'Actions for Loose' }).click()
    const items = page.getByRole('menuitem')
    await expect.poll(() => items.allTextContents()).toEqual(['Dismiss'])
    await page.getByRole('menuitem', { name: 'Dismiss' }).click()
    await tile(page, 'Loose').waitFor({ state: 'detached' })
  })

  test('indicators are created, shared and deleted on their page', async () => {
    const page = await world.page('/indicators/new')
    await page.getByLabel('Title').fill('Made by hand')
    await page.getByRole('combobox', { name: 'Kind' }).click()
    await page.getByRole('option', { name: 'Progress' }).click()
    await page.getByRole('textbox', { name: 'Value' }).fill('55')
    await page.keyboard.press('Control+s')
    await page.getByRole('heading', { level: 1, name: 'Made by hand' }).waitFor()
    await page.getByRole('button', { name: 'Create a public link' }).click()
    const link = await page
      .locator('.copy-field code', { hasText: '/-/badge/' })
      .first()
      .innerText()
    const badge = await (await world.anonymousPage()).request.get(link)
    expect(badge.status()).toBe(200)
    expect(await badge.text()).toContain('Made by hand')
    await page.getByRole('button', { name: 'Revoke the link' }).click()
    await page.getByText('The link was revoked').waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Made by hand was deleted').waitFor()
  })

  test('on a phone a long value does not push out the name', async () => {
    const title = 'Orders that wait for the bank to answer'
    const value = 'a text that says much more than one line of a phone can hold'
    const indicator = await world.api('POST', '/indicator', { title, type: 'text', value })
    for (const scheme of ['light', 'dark'] as const) {
      const page = await world.page('/indicators', { width: 390, scheme })
      const name = page.getByRole('link', { name: title, exact: true })
      const box = (await name.locator('..').boundingBox())!
      expect(box.width).toBeGreaterThan(250)
      const below = (await page.locator('.ind-value', { hasText: value }).boundingBox())!
      expect(below.y).toBeGreaterThanOrEqual(box.y + box.height)
    }
    await world.api('DELETE', `/indicator/${indicator.id}`)
  })

  test('without indicators the section is not drawn', async () => {
    for (const indicator of await world.api<{ id: string; read_only: boolean }[]>(
      'GET',
      '/indicator',
    )) {
      if (indicator.read_only)
        await world.api('PATCH', `/indicator/${indicator.id}`, { read_only: false })
      await world.api('DELETE', `/indicator/${indicator.id}`)
    }
    const page = await world.page('/')
    await page.getByRole('region', { name: 'Monitors' }).waitFor()
    expect(await page.getByRole('region', { name: 'Indicators' }).count()).toBe(0)
    await world.api('POST', '/indicator', { title: 'Back again', type: 'text' })
    await page.getByRole('region', { name: 'Indicators' }).waitFor()
  })
})

describe('monitors', () => {
  let id = ''

  test('the form of a kind creates a monitor, and the page counts down to its first check', async () => {
    const { port } = site.address() as AddressInfo
    const page = await world.page('/monitors')
    await page.getByRole('main').getByRole('link', { name: 'New monitor' }).click()
    await page.getByRole('link', { name: /^Web page/ }).click()
    await page.getByLabel('Name').fill('Shop')
    await page.getByLabel('Address').fill('not an address')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('Must be an absolute URL').waitFor()
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}/`)
    // The agent makes the check before the monitor exists.
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('The check succeeded').waitFor()
    await page.getByLabel('Status').fill('404')
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('The check failed').waitFor()
    await pictures(page, 'monitor-check-now')
    await page.getByLabel('Status').fill('')
    expect(await world.api('GET', '/monitor?where[name]=Shop')).toEqual([])
    await page.getByRole('button', { name: /^Checks and severity/ }).click()
    await page.getByLabel('Interval (seconds)').fill('1')
    await page.getByLabel('Failure after').fill('1')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor()
    id = new URL(page.url()).pathname.split('/').at(-1)!
    await page.getByText(/^Normal/).waitFor()
  })

  test('a failing monitor moves to the top of every list, and recovers', async () => {
    const page = await world.page('/')
    const card = page.getByRole('region', { name: 'Monitors' })
    await card.getByRole('link', { name: /Shop/ }).waitFor()
    isUp = false
    await card.locator('a[data-state="failure"]', { hasText: 'Shop' }).waitFor()
    await page
      .getByRole('navigation', { name: 'Observe' })
      .getByText(/^[12]$/)
      .waitFor()
    await page.waitForFunction(() => /^\(\d/.test(document.title))
    const first = card.getByRole('link').first()
    await expect.poll(() => first.innerText()).toMatch(/Shop|Load of/)
    isUp = true
    await card.locator('a[data-state="normal"]', { hasText: 'Shop' }).waitFor()
  })

  test('the chart of a monitor is drawn, and its range is in the address', async () => {
    const page = await world.page(`/monitors/${id}?range=1h`)
    await page.waitForFunction(isDrawn)
    await page.getByText('7 d', { exact: true }).click()
    await page.waitForURL(/range=7d/)
    await page.reload()
    await expect.poll(() => page.getByRole('radio', { name: '7 d' }).isChecked()).toBe(true)
    await page.getByText('Table', { exact: true }).click()
    await page.getByRole('columnheader', { name: 'Response time, ms' }).waitFor()
    await page.getByRole('tab', { name: 'History' }).click()
    const turns = page.getByRole('region', { name: 'State changes' })
    await turns
      .getByText(/^(Failing|Warning) lasted/)
      .first()
      .waitFor()
    await turns.getByText(/^Normal ongoing/).waitFor()
  })

  test('a monitor is muted, paused, edited and deleted', async () => {
    const page = await world.page(`/monitors/${id}`)
    await page.getByRole('button', { name: 'Mute' }).click()
    await page.getByRole('menuitem', { name: 'Mute for 8 hours' }).click()
    await page.getByText(/Muted until/).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('menuitem', { name: 'Pause indefinitely' }).click()
    await page.getByText('Paused: checks are off').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()

    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Shop 3')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { level: 1, name: 'Shop 3' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(world.at('/monitors'))
  })

  test('a push monitor shows its URL on request', async () => {
    const monitor = await world.api('POST', '/monitor', { name: 'Backup', type: 'push' })
    const page = await world.page(`/monitors/${monitor.id}/settings`)
    await page.getByRole('button', { name: 'Show the push URL' }).click()
    const url = await page.locator('.copy-field code').first().innerText()
    expect((await fetch(url)).status).toBe(200)
    await page.getByText(/^Normal/).waitFor()
  })

  test('the list of monitors is filtered by the address and changes many at once', async () => {
    const host = await world.host()
    const names = Array.from({ length: 12 }, (_, i) => `Port ${String(i).padStart(2, '0')}`)
    for (const name of names)
      await world.api('POST', '/monitor', {
        name,
        type: 'tcp',
        target: '127.0.0.1',
        port: 9,
        host_id: host.id,
        looptime: 600_000,
        tags: ['many'],
      })
    const page = await world.page('/monitors?kind=tcp&tag=many')
    await page.getByText('12 monitors').waitFor()
    await page.getByLabel('Find by name').fill('port 1')
    await page.getByText('2 monitors').waitFor()
    await page.waitForURL(/q=port\+1|q=port%201/)
    await page.getByLabel('Select Port 10').check()
    await page.keyboard.press('Escape')
    await page.getByLabel('Select Port 11').check()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByLabel('Type 2 to confirm').fill('2')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No monitor matches').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await page.getByRole('link', { name: 'Port 00' }).waitFor()
  })
})

describe('the wall', () => {
  test('fills the screen with tiles and problems, without navigation', async () => {
    await world.api('POST', '/indicator', { title: 'Queue', type: 'counter', value: 41 })
    const page = await world.page('/monitors', { width: 1920, height: 1080 })
    await page.getByRole('link', { name: 'Wall' }).click()
    await tile(page, 'Queue').getByText('41').waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await page.getByRole('button', { name: /Actions for/ }).count()).toBe(0)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(wide).toBeLessThanOrEqual(1920)
    await world.api('PATCH', '/indicator/title/Queue', { value: 42 })
    await tile(page, 'Queue').getByText('42').waitFor()
    const visitor = await world.anonymousPage()
    await visitor.goto(world.at('/wall'))
    await visitor.waitForURL(/\/ui\/login/)
  })
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})

/** Runs in the page: whether anything but the background is on the canvas. */
function isDrawn(): boolean {
  const canvas = document.querySelector('canvas')
  const pixels = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data
  return pixels?.some((value) => value !== 0) ?? false
}
