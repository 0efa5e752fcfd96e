import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

const dialog = (page: Page) => page.getByRole('dialog')
const save = (page: Page) => page.getByRole('button', { name: 'Save' })

/** Puts a text into the script editor in place of what is there. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Script', exact: true }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

test('an empty list teaches, and a template becomes a task that runs', async () => {
  const page = await world.page('/tasks')
  await page.getByRole('link', { name: /Shell script/ }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First of all')
  await write(page, '#!/bin/bash\necho made in the browser\n')
  await page.getByRole('button', { name: 'Create the task' }).click()
  await page.getByRole('heading', { level: 2, name: 'First of all' }).waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await dialog(page).getByText('It takes no arguments').waitFor()
  await page.keyboard.press('Control+Enter')
  await dialog(page).getByText('made in the browser').waitFor()
  await dialog(page).getByText('Succeeded').or(dialog(page).getByText('normal')).first().waitFor()
  await dialog(page).getByRole('link', { name: 'Open' }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
})

test('arguments are added, moved by keyboard, and saved in that order', async () => {
  const task = await world.script('Ordered', '#!/bin/bash\necho "$@"\n')
  const page = await world.page(`/tasks/${task.id}`)
  for (const [label, kind] of [
    ['First', 'Text'],
    ['Second', 'Yes or no'],
    ['Third', 'Date'],
  ] as const) {
    await page.getByRole('button', { name: 'Add argument' }).click()
    await dialog(page).getByRole('textbox', { name: 'Label' }).fill(label)
    await dialog(page).getByRole('combobox', { name: 'Kind' }).click()
    await page.getByRole('option', { name: kind, exact: true }).click()
    await dialog(page).getByRole('button', { name: 'Take over' }).click()
    await dialog(page).waitFor({ state: 'hidden' })
  }
  await page.getByRole('button', { name: /^Third, position 3/ }).focus()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('button', { name: /^Third, position 2/ }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('button', { name: /^Third, position 1/ }).waitFor()
  await page.keyboard.press('Control+s')
  const saved = await until(async () => {
    const found = await world.api('GET', `/task/${task.id}`)
    return found.task_arguments.length === 3 && found.task_arguments
  }, 'saving')
  expect(saved.map((one: { label: string }) => one.label)).toEqual(['Third', 'First', 'Second'])
})

test('two who edit at once: the second sees what the first changed', async () => {
  const task = await world.script('Contested', '#!/bin/bash\necho one\n')
  const page = await world.page(`/tasks/${task.id}`)
  await page.getByLabel('Description').fill('mine')
  await world.api('PATCH', `/task/${task.id}`, { tags: ['theirs'], os_user: 'nobody' })
  await save(page).click()
  await dialog(page).getByText('Somebody else changed it meanwhile').waitFor()
  await dialog(page).getByText('os_user').waitFor()
  await dialog(page).getByRole('button', { name: 'Keep my changes on top' }).click()
  await save(page).click()
  const saved = await until(async () => {
    const found = await world.api('GET', `/task/${task.id}`)
    return found.description === 'mine' && found
  }, 'saving')
  expect(saved.tags).toEqual(['theirs'])
})

test('a page with unsaved changes is not left by accident', async () => {
  const task = await world.script('Half done', '#!/bin/bash\ntrue\n')
  const page = await world.page(`/tasks/${task.id}`)
  await page.getByLabel('Description').fill('not yet')
  await page.getByRole('link', { name: /^Jobs/ }).click()
  await dialog(page).getByText('Leave without saving?').waitFor()
  await dialog(page).getByRole('button', { name: 'Cancel' }).click()
  expect(page.url()).toContain(task.id)
  await page.getByRole('link', { name: /^Jobs/ }).click()
  await dialog(page).getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL(world.at('/jobs'))
})

test('the secret key is hidden until asked for, and its call runs the task', async () => {
  const task = await world.script('Called', '#!/bin/bash\necho "$1"\n', {
    task_arguments: [{ type: 'input', label: 'who', value: 'Ada' }],
  })
  const { secret } = await world.api('GET', `/task/${task.id}/credentials`)
  const page = await world.page(`/tasks/${task.id}/api`)
  await page.getByRole('tab', { name: 'Secret key' }).click()
  await page.getByRole('region', { name: 'HTML form' }).waitFor()
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('button', { name: 'Show the secret key' }).click()
  await page.getByText(secret).first().waitFor()
  const call = await page.getByRole('region', { name: 'Command line' }).innerText()
  const [, url = ''] = /'(http[^']+)'/.exec(call) ?? []
  const [, body = ''] = /-d '([^']+)'/.exec(call) ?? []
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(answer.status).toBe(200)
})

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
