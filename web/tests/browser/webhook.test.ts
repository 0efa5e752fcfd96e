import { afterAll, beforeAll, expect, test } from 'vitest'
import { picture, until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

const call = (url: string, body: unknown) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('a webhook is created, called and replayed; a new secret disables the old address', async () => {
  await world.script('Greet', '#!/bin/bash\necho "$1 $2"\n', {
    task_arguments: [
      { type: 'input', label: 'who' },
      { type: 'input', label: 'how' },
    ],
  })
  const page = await world.page('/webhooks')
  await page.getByRole('link', { name: 'New webhook' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('From outside')
  await page.getByRole('combobox', { name: 'What it runs' }).click()
  await page.getByRole('option', { name: /^Greet/ }).click()
  // Signatures are seldom needed: one line shows the choice until the group is opened.
  expect(await page.getByRole('combobox', { name: 'Signature' }).count()).toBe(0)
  const group = page.getByRole('button', { name: 'How callers authenticate None' })
  await group.click()
  await page.getByRole('combobox', { name: 'Signature' }).waitFor()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.waitForURL(/\/webhooks\/[0-9a-f]{24}$/)

  // The mapping of elements to arguments is shown before anything is sent.
  await page.getByRole('table', { name: /^Mapping of elements/ }).waitFor()
  await page.getByRole('cell', { name: 'who' }).waitFor()

  await page.getByRole('button', { name: 'Show the secret key' }).click()
  const address = page.locator('.copy-field code').first()
  await page.getByText('Hide the secret key').waitFor()
  const url = await address.innerText()
  expect(url).toMatch(/trigger\/secret\/[0-9a-f]{64}/)
  const answer = await call(url, ['Ada', 'kindly'])
  expect(answer.status).toBe(200)

  const delivery = page.locator('.hooks-delivery').first()
  await delivery.getByText('accepted').waitFor()
  await delivery.locator('summary').click()
  await delivery.getByText('["Ada","kindly"]').waitFor()
  await delivery.getByRole('button', { name: 'Run again' }).click()
  await page.getByText('replay', { exact: true }).waitFor()

  await page.getByRole('button', { name: 'Change the secret key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Change the secret key' }).click()
  await page.getByText('The secret key was changed.').waitFor()
  expect((await call(url, ['Ada', 'again'])).status).toBe(403)
  const newer = await until(async () => {
    const text = await address.innerText()
    return text !== url && /secret\/[0-9a-f]{64}/.test(text) && text
  }, 'the new address')
  expect((await call(newer, ['Ada', 'again'])).status).toBe(200)
})

test('a test call without a required argument is reported before and after it is sent', async () => {
  const task = await world.script('Needs two', '#!/bin/bash\ntrue\n', {
    task_arguments: [
      { type: 'input', label: 'one' },
      { type: 'input', label: 'two' },
    ],
  })
  const hook = await world.api('POST', '/webhook', { name: 'Short', tasks: [task.id] })
  const page = await world.page(`/webhooks/${hook.id}`)
  await page.getByRole('textbox', { name: 'Payload' }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('["only one"]')
  await page.getByText('missing: the call is rejected').waitFor()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page
    .getByRole('alert')
    .getByText(/is missing/)
    .waitFor()
  await page.locator('.hooks-delivery').getByText('missing_arguments').waitFor()
})

const KINDS = [
  { type: 'select', label: 'where', options: [{ id: 'live', label: 'Live' }] },
  { type: 'boolean', label: 'really' },
  { type: 'date', label: 'when' },
  { type: 'email', label: 'who' },
  { type: 'json', label: 'data' },
  { type: 'regexp', label: 'version', pattern: 'v[0-9]+[.][0-9]{2}' },
  { type: 'file', label: 'file' },
  { type: 'input', label: 'long', charsmin: 12 },
]

test('Copy gives the real address, and the prefilled payload is accepted', async () => {
  const task = await world.script('All kinds', '#!/bin/bash\necho "$1"\n', {
    task_arguments: KINDS.map((kind, order) => ({ ...kind, order })),
  })
  const hook = await world.api('POST', '/webhook', { name: 'Kinds', tasks: [task.id] })
  const page = await world.page(`/webhooks/${hook.id}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await page.locator('.copy-field code', { hasText: '••••' }).waitFor()
  await page.getByRole('button', { name: 'Copy: Address' }).click()
  await expect.poll(copied).toMatch(/trigger\/secret\/[0-9a-f]{64}/)
  await page.getByRole('button', { name: 'Copy: Copy the address' }).click()
  await expect.poll(copied).toMatch(/^curl[^•]*secret\/[0-9a-f]{64}[^•]*"live"[^•]*$/)
  await page.getByRole('cell', { name: 'where' }).waitFor()
  await picture(page, 'webhook')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.locator('.hooks-delivery').getByText('accepted').waitFor()
})

test('where the browser has no clipboard, as on plain http, Copy still copies', async () => {
  const hook = await world.api('POST', '/webhook', { name: 'Plain', signature: 'github' })
  const page = await world.page(`/webhooks/${hook.id}`)
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.getByRole('button', { name: 'Copy: Address' }).click()
  const payload = page.getByRole('textbox', { name: 'Payload' })
  await payload.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Control+v')
  await payload.getByText('/trigger/signed').waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
