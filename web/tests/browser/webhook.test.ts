import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

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

test('made, called from outside, replayed; a new secret kills the old address', async () => {
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
  await page.getByRole('button', { name: 'Create the webhook' }).click()
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
  const ask = page.getByRole('dialog')
  await ask.getByRole('button', { name: 'Change the secret key' }).click()
  await page.getByText('The secret key was changed.').waitFor()
  expect((await call(url, ['Ada', 'again'])).status).toBe(403)
  const newer = await until(async () => {
    const shown = await address.innerText()
    return shown !== url && /secret\/[0-9a-f]{64}/.test(shown) && shown
  }, 'the new address')
  expect((await call(newer, ['Ada', 'again'])).status).toBe(200)
})

test('a test that lacks an argument says so before and after it is sent', async () => {
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

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
