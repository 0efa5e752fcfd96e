import { afterAll, beforeAll, expect, test } from 'vitest'
import { picture, until, World } from './world'

let world: World
beforeAll(async () => {
  // Nothing listens there: mails wait in the outbox.
  world = await World.start({ env: { BELVEDERE_MAIL: 'mailto://127.0.0.1:9?from=a@b.test' } })
})
afterAll(() => world.stop())

test('an admin creates a status page, and anyone can read it', async () => {
  const page = await world.page('/status')
  await page.getByRole('link', { name: 'New status page' }).click()
  await page.getByLabel('Title').fill('Acme is up')
  // Seldom changed fields are below a heading.
  expect(await page.getByLabel('Description').count()).toBe(0)
  await page.getByRole('button', { name: 'Address and description' }).click()
  await page.getByLabel('Description').waitFor()
  await page.getByRole('textbox', { name: 'Address' }).fill('acme')
  await page.getByRole('combobox', { name: 'Object' }).click()
  await page.getByRole('option', { name: 'This server' }).click()
  await page.getByLabel('Name for visitors').fill('Web shop')
  await page.getByLabel('Group').fill('Front')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Share' }).waitFor()
  const markdown = await page.locator('.copy-field code', { hasText: '[![Acme is up]' }).innerText()

  const visitor = await world.anonymousPage()
  await visitor.goto(`${world.url}/ui/status/acme`)
  await visitor.getByRole('heading', { level: 1, name: 'Acme is up' }).waitFor()
  await visitor.getByRole('img', { name: 'Web shop: the last 90 days' }).waitFor()
  expect(await visitor.locator('.status-days > span').count()).toBe(90)
  // Internal names are not shown to the public.
  const text = await visitor.locator('body').innerText()
  expect(text).not.toContain('This server')
  const badge = /\]\((\S+badge\.svg)\)/.exec(markdown)![1]!
  expect(await (await visitor.request.get(badge)).text()).toContain('<svg')
})

// A PNG of one pixel.
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test('an admin posts an incident, and visitors read it and subscribe', async () => {
  const [statusPage] = await world.api<{ id: string }[]>('GET', '/statuspage')
  const page = await world.page(`/status/${statusPage!.id}`)
  await page.getByRole('button', { name: 'Post incident' }).click()
  await page.getByLabel('Title of the incident').fill('Payments are slow')
  await page.getByLabel('What visitors should know').fill('We are looking\n<b>into it</b>.')
  await page.getByRole('button', { name: 'Post incident' }).click()
  await page.getByRole('button', { name: 'Add update' }).click()
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'Resolved' }).click()
  await page.getByLabel('What visitors should know').fill('Fixed.')
  await page.getByRole('button', { name: 'Post update' }).click()
  await page.getByRole('region', { name: 'Posted incidents' }).getByText('Resolved').waitFor()
  const logo = { name: 'logo.png', mimeType: 'image/png', buffer: LOGO }
  await page.locator('input[type=file]').setInputFiles(logo)
  await page.getByRole('img', { name: 'Logo of Acme is up' }).waitFor()

  const visitor = await world.anonymousPage()
  await until(
    async () => (await (await fetch(`${world.url}/-/status/acme`)).text()).includes('Fixed.'),
    'the incident',
  )
  await visitor.goto(`${world.url}/ui/status/acme`)
  const posts = visitor.getByRole('region', { name: 'Past incidents' })
  await posts.getByText('Fixed.').waitFor()
  expect(await posts.innerText()).toContain('<b>into it</b>')
  await visitor.getByRole('img', { name: 'Logo of Acme is up' }).waitFor()
  const feed = await visitor.getByRole('link', { name: 'RSS feed' }).getAttribute('href')
  const text = await (await visitor.request.get(new URL(feed!, world.url).href)).text()
  expect(text).toContain('Payments are slow: resolved')
  expect(text).toContain('<rss version="2.0"')
  // Feed readers find the feeds by the address of the page.
  const feeds = await visitor
    .locator('head link[rel=alternate]')
    .evaluateAll((links) => links.map((link) => (link as HTMLLinkElement).href))
  expect(feeds).toEqual(['atom', 'rss'].map((kind) => `${world.url}/-/status/acme/feed.${kind}`))
  const atom = await visitor.getByRole('link', { name: 'Atom feed' }).getAttribute('href')
  expect(new URL(atom!, world.url).href).toBe(feeds[0])
  await picture(visitor, 'status-public')
  await visitor.getByLabel('E-mail address').fill('reader@example.com')
  await visitor.getByRole('button', { name: 'Subscribe' }).click()
  await visitor.getByText('To confirm, open the link in the e-mail to reader@example.com').waitFor()
  await visitor.goto(`${world.url}/ui/status/acme?confirm=wrong`)
  await visitor.getByRole('button', { name: 'Confirm subscription' }).click()
  await visitor.getByText('The link is not valid').waitFor()
  await page.reload()
  await page.getByText('reader@example.com').waitFor()
  await picture(page, 'status-edit')
})

test('a disabled or unknown status page says so', async () => {
  const [statusPage] = await world.api<{ id: string }[]>('GET', '/statuspage')
  const page = await world.page(`/status/${statusPage!.id}`)
  await page.getByRole('switch', { name: 'Visible to everyone' }).uncheck()
  await page.keyboard.press('Control+s')
  await page.getByText('Saved', { exact: true }).waitFor()
  // The server caches public responses for some seconds.
  await until(async () => (await fetch(`${world.url}/-/status/acme`)).status === 404, 'its end')
  const visitor = await world.anonymousPage()
  await visitor.goto(`${world.url}/ui/status/acme`)
  await visitor.getByText('Status page not found').waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
