import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

const FIRST = 'hush-4711-first'
const SECOND = 'hush-4712-second'

let world: World
let task: { id: string }
beforeAll(async () => {
  world = await World.start({ demo: false })
  task = await world.script('Uses a secret', '#!/bin/bash\necho "with <$DEPLOY_KEY>"\n')
})
afterAll(() => world.stop())

/** Every place of the page where a secret value could be found. */
async function storedText(page: Page): Promise<string> {
  return page.evaluate(
    () =>
      document.documentElement.outerHTML +
      [...document.querySelectorAll('input, textarea')]
        .map((input) => (input as any).value)
        .join() +
      JSON.stringify(localStorage) +
      JSON.stringify(sessionStorage) +
      location.href,
  )
}

const row = (page: Page) => page.getByRole('listitem').filter({ hasText: 'DEPLOY_KEY' })
const form = (page: Page) => page.getByRole('dialog')
const value = (page: Page) => form(page).getByRole('textbox', { name: 'Value' })

async function output(): Promise<string> {
  const { id } = await world.api('POST', '/job', { task: task.id })
  const page = await world.page(`/jobs/${id}`)
  await page.locator('[data-mark="complete"]').waitFor()
  await page.locator('.log-text', { hasText: 'with <' }).waitFor()
  const log = await page.locator('.log-box').innerText()
  await page.context().close()
  return log
}

test('a secret is set, and never shown again', async () => {
  const page = await world.page('/secrets')
  await page.getByText('No secrets yet').waitFor()
  await page.getByRole('button', { name: 'Set a secret' }).click()
  await form(page).getByRole('textbox', { name: 'Name' }).fill('DEPLOY_KEY')
  await value(page).fill(FIRST)
  await form(page).getByLabel('What it is for').fill('pushes to the shop')
  await page.keyboard.press('Control+Enter')
  await form(page).waitFor({ state: 'hidden' })
  await row(page).getByText('pushes to the shop').waitFor()
  expect(await storedText(page)).not.toContain(FIRST)
  await page.reload()
  await row(page).getByText('secret', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Change DEPLOY_KEY' }).click()
  expect(await value(page).inputValue()).toBe('')
  expect(await storedText(page)).not.toContain(FIRST)
  expect(JSON.stringify(await world.api('GET', '/secret'))).not.toContain(FIRST)
})

test('a script receives the secret, and its log does not show it', async () => {
  const log = await output()
  expect(log).toContain('with <***>')
  expect(log).not.toContain(FIRST)
})

test('a secret is replaced under the same name', async () => {
  const before = (await world.api<any[]>('GET', '/secret'))[0].version
  const page = await world.page('/secrets')
  await page.getByRole('button', { name: 'Change DEPLOY_KEY' }).click()
  await value(page).fill(SECOND)
  await form(page).getByRole('button', { name: 'Save' }).click()
  await form(page).waitFor({ state: 'hidden' })
  await until(async () => {
    const [secret] = await world.api<any[]>('GET', '/secret')
    return secret.version > before
  }, 'the new value')
  expect(await storedText(page)).not.toContain(SECOND)
  expect(await output()).toContain('with <***>')
})

test('creating a secret does not replace one with the same name', async () => {
  const [before] = await world.api<any[]>('GET', '/secret')
  const page = await world.page('/secrets')
  await page.getByRole('button', { name: 'Set a secret' }).click()
  await form(page).getByRole('textbox', { name: 'Name' }).fill('DEPLOY_KEY')
  await value(page).fill('another value')
  await form(page).getByRole('button', { name: 'Create' }).click()
  await form(page).getByText('There is already a secret with this name').waitFor()
  const [after] = await world.api<any[]>('GET', '/secret')
  expect(after.version).toBe(before.version)
})

test('a variable can be read again', async () => {
  const page = await world.page('/secrets')
  await page.getByRole('button', { name: 'Set a secret' }).click()
  await form(page).getByRole('textbox', { name: 'Name' }).fill('REGION')
  await form(page).getByRole('switch', { name: 'Keep it secret' }).uncheck()
  await value(page).fill('north')
  await form(page).getByRole('button', { name: 'Create' }).click()
  await page.getByRole('listitem').filter({ hasText: 'REGION' }).getByText('north').waitFor()
})

test('a deleted secret is missing in scripts', async () => {
  const page = await world.page('/secrets')
  await page.getByRole('button', { name: 'Delete DEPLOY_KEY' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await row(page).waitFor({ state: 'detached' })
  expect(await output()).toContain('with <>')
})

const PRIVATE_KEY = '-----BEGIN KEY-----\nkey-line-4713\n-----END KEY-----'

/** A script that prints how many lines the key has, and its hash. */
function readsKey(name: string, value: string, more: Record<string, unknown> = {}) {
  const source = `#!/bin/bash
key="${value}"
echo "lines: $(grep -c '' <<< "$key"), hash: $(printf %s "$key" | sha256sum | cut -c 1-12)"
`
  return world.script(name, source, more)
}

const KEY_OUTPUT = `lines: 3, hash: ${createHash('sha256').update(PRIVATE_KEY).digest('hex').slice(0, 12)}`

test('a private key that is stored as a secret reaches a script with its line breaks', async () => {
  const reader = await readsKey('Reads a key', '$PRIVATE_KEY')
  const page = await world.page('/secrets')
  await page.getByRole('button', { name: 'Set a secret' }).click()
  await form(page).getByRole('textbox', { name: 'Name' }).fill('PRIVATE_KEY')
  await value(page).fill(PRIVATE_KEY)
  await page.keyboard.press('Control+s')
  await form(page).waitFor({ state: 'hidden' })
  await page.goto(world.at(`/tasks/${reader.id}?run=true`))
  await form(page).getByRole('button', { name: 'Run' }).click()
  await form(page).getByText(KEY_OUTPUT).waitFor()
})

test('a private key in a masked argument of the run dialog keeps its line breaks', async () => {
  const more = { task_arguments: [{ type: 'textarea', label: 'Key', masked: true }] }
  const reader = await readsKey('Takes a key', '$1', more)
  const page = await world.page(`/tasks/${reader.id}?run=true`)
  await form(page).getByRole('textbox', { name: 'Key' }).fill(PRIVATE_KEY)
  await page.keyboard.press('Control+Enter')
  await form(page).getByText(KEY_OUTPUT).waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
