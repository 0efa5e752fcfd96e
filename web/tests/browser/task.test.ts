import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, picture, press, until, visit, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

const dialog = (page: Page) => page.getByRole('dialog')

/** Replaces the text of the script editor. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Script', exact: true }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

test('an empty list offers templates, and a template becomes a task that runs', async () => {
  const page = await world.page('/tasks')
  await page.getByRole('link', { name: /Shell script/ }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('First of all')
  await write(page, '#!/bin/bash\necho made in the browser\n')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { level: 2, name: 'First of all' }).waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await dialog(page).getByText('This takes no arguments').waitFor()
  await page.keyboard.press('Control+Enter')
  await dialog(page).getByText('made in the browser').waitFor()
  await dialog(page).getByText('Succeeded').or(dialog(page).getByText('normal')).first().waitFor()
  await dialog(page).getByRole('link', { name: 'Open' }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
})

test('a task is created and run, and its log appears below', async () => {
  const page = await world.page('/tasks/new?template=shell')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Run at once')
  await picture(page, 'task-new')
  await page.getByRole('button', { name: 'Create and run' }).click()
  await page.waitForURL(/\/tasks\/[0-9a-f]{24}\?job=/)
  const run = page.getByRole('region', { name: 'This run' })
  await run.getByText('Hello from').waitFor()
  await run
    .getByText(/Succeeded|normal/i)
    .first()
    .waitFor()
  await run.getByRole('link', { name: 'Open job' }).waitFor()
  await picture(page, 'task-run')
})

test('a recipe is imported, and the page lists what was not kept', async () => {
  const page = await world.page('/tasks')
  await page.getByRole('button', { name: 'Import recipe' }).first().click()
  const task = { name: 'Imported', type: 'dummy', acl: ['ann@example.com'] }
  await dialog(page)
    .locator('input[type=file]')
    .setInputFiles({
      name: 'recipe.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ task })),
    })
  await dialog(page).getByRole('button', { name: 'Import', exact: true }).click()
  await dialog(page).getByRole('table', { name: 'Not imported: 1 field' }).waitFor()
  await dialog(page).getByText('["ann@example.com"]').waitFor()
  await dialog(page).getByRole('link', { name: 'Imported' }).click()
  await page.waitForURL(/\/tasks\/[0-9a-f]{24}/)
})

const FORMS = [
  '/tasks/new?template=shell',
  '/monitors/new?kind=tcp',
  '/schedules/new',
  '/webhooks/new',
  '/scripts/new',
  '/indicators/new',
  '/workflows/new',
  '/status/new',
]

test('every new page ends with Create and Cancel, at the same place', async () => {
  const page = await world.page('/')
  for (const path of FORMS) {
    await visit(page, world.at(path))
    const buttons = page.locator('.form-actions').locator('button, a')
    await buttons.first().waitFor()
    expect((await buttons.allInnerTexts()).slice(0, 2), path).toEqual(['Create', 'Cancel'])
    const box = (await buttons.first().boundingBox())!
    expect(box.y + box.height, path).toBeLessThanOrEqual(900)
    await picture(page, `form${path.split('?')[0]!.replaceAll('/', '-')}`)
  }
})

test('new and existing tasks have the same fields in the same order', async () => {
  const { id } = await world.script('Same order', '#!/bin/bash\ntrue\n')
  const page = await world.page('/tasks/new?template=shell')
  const headings = () => page.locator('.task-split section > h2').allInnerTexts()
  const cards = ['General', 'Where and how', 'Arguments', 'Notifications', 'Options']
  await page.getByRole('button', { name: 'Create', exact: true }).waitFor()
  expect(await headings()).toEqual(cards)
  await page.goto(world.at(`/tasks/${id}`))
  await page.getByRole('button', { name: 'Save' }).waitFor()
  expect((await headings()).slice(0, 5)).toEqual(cards)
  await page.getByRole('button', { name: 'Environment' }).waitFor()
  expect(await page.getByLabel('Jobs at once').count()).toBe(0)
  await page.getByRole('button', { name: 'Retries and parallel runs' }).click()
  await page.getByRole('switch', { name: /[Rr]etr/ }).waitFor()
  await picture(page, 'task-edit')
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
    await dialog(page).getByRole('button', { name: 'Add argument' }).click()
    await dialog(page).waitFor({ state: 'hidden' })
  }
  await page.getByRole('button', { name: /^Third, position 3/ }).focus()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('button', { name: /^Third, position 2/ }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('button', { name: /^Third, position 1/ }).waitFor()
  await page.keyboard.press('Control+s')
  const saved = await until(async () => {
    const record = await world.api('GET', `/task/${task.id}`)
    return record.task_arguments.length === 3 && record.task_arguments
  }, 'saving')
  expect(saved.map((argument: { label: string }) => argument.label)).toEqual([
    'Third',
    'First',
    'Second',
  ])
})

const KINDS = [
  { type: 'fixed', label: 'Fixed', value: 'f' },
  { type: 'input', label: 'Line', charsmin: 3 },
  { type: 'textarea', label: 'Area' },
  { type: 'boolean', label: 'Flag' },
  { type: 'json', label: 'Json' },
  {
    type: 'select',
    label: 'Choice',
    options: [
      { id: 'a', label: 'Apple' },
      { id: 'b', label: 'Beet' },
    ],
  },
  { type: 'date', label: 'Day' },
  { type: 'email', label: 'Mail' },
  { type: 'regexp', label: 'Code', pattern: '^[A-Z]+$' },
  { type: 'file', label: 'File' },
  { type: 'input', label: 'Hidden', masked: true },
]

test('adding an argument to a new task does not create the task', async () => {
  const before = (await world.api<unknown[]>('GET', '/task')).length
  const page = await world.page('/tasks')
  await page.getByRole('link', { name: 'New task' }).click()
  await page.getByRole('link', { name: /Shell script/ }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Not yet')
  await page.getByRole('button', { name: 'Add argument' }).click()
  await dialog(page).getByRole('textbox', { name: 'Label' }).fill('First')
  await dialog(page).getByRole('button', { name: 'Add argument' }).click()
  await dialog(page).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: /^First, position 1/ }).waitFor()
  await page.getByRole('button', { name: 'Add argument' }).click()
  await dialog(page).getByRole('textbox', { name: 'Label' }).fill('Second')
  await page.keyboard.press('Control+Enter')
  await dialog(page).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: /^Second, position 2/ }).waitFor()
  expect(page.url()).toContain('/tasks/new')
  expect(await world.api<unknown[]>('GET', '/task')).toHaveLength(before)
})

test('the run dialog has a field for every kind, validates them, and sends them all', async () => {
  const source = '#!/bin/bash\nfor a in "$@"; do [ -f "$a" ] && cat "$a" || echo "<$a>"; done\n'
  const task = await world.script('Every kind', source, { task_arguments: KINDS })
  const page = await world.page(`/tasks/${task.id}?run=true`)
  const form = dialog(page)
  await form.getByLabel('Line').fill('ab')
  await form.getByLabel('Mail').fill('nobody')
  await form.getByLabel('Code').fill('low')
  await page.keyboard.press('Control+Enter')
  await form.getByText('At least 3 characters.').waitFor()
  await form.getByText('Not an e-mail address.').waitFor()
  await form.getByText('Must match ^[A-Z]+$').waitFor()

  await form.getByLabel('Line').fill('abc')
  await form.getByLabel('Area').fill('one\ntwo')
  await form.getByRole('switch', { name: 'Flag' }).click()
  await form.getByRole('textbox', { name: 'Json', exact: true }).fill('{"a":1}')
  await form.getByRole('combobox', { name: 'Choice' }).click()
  await page.getByRole('option', { name: 'Beet' }).click()
  await form.getByLabel('Day: Date').fill('2026-02-03')
  await form.getByLabel('Mail').fill('ada@example.org')
  await form.getByLabel('Code').fill('LOUD')
  await page.setInputFiles('input[type="file"]', {
    name: 'note.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('in the file\n'),
  })
  await form.getByRole('textbox', { name: 'Hidden' }).fill('p4ss-word')
  await page.keyboard.press('Control+Enter')
  await form.getByText('in the file').waitFor()
  const output = (await form.getByRole('region', { name: 'Output' }).innerText()).split('\n')
  for (const line of [
    '<f>',
    '<abc>',
    '<true>',
    '<b>',
    '<2026-02-03>',
    '<ada@example.org>',
    '<LOUD>',
  ])
    expect(output).toContain(line)
  expect(output.join('\n')).not.toContain('p4ss-word')

  // The last values are filled in, except hidden ones.
  await form.getByRole('button', { name: 'Back to the form' }).click()
  expect(await form.getByLabel('Line').inputValue()).toBe('abc')
  expect(await form.getByRole('textbox', { name: 'Hidden' }).inputValue()).toBe('')
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('p4ss-word')
})

test('an address that opens the run dialog does so once', async () => {
  const task = await world.script('Once', '#!/bin/sh\necho once\n')
  const flow = await world.api<{ id: string }>('POST', '/workflows', {
    name: 'Once',
    start: 'a',
    graph: { nodes: [{ id: 'a', task_id: task.id }], edges: [] },
  })
  for (const path of [`/tasks/${task.id}`, `/workflows/${flow.id}`]) {
    const page = await world.page(`${path}?run=true`)
    await dialog(page).getByText('This takes no arguments').waitFor()
    await page.waitForURL((url) => !url.search.includes('run'))
    await press(page, 'Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Run', exact: true }).first().waitFor()
    await idle(page)
    expect(await dialog(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Run', exact: true }).first().click()
    await dialog(page).waitFor()
    expect(page.url()).not.toContain('run')
  }
})

test('the script is edited, checked and versioned', async () => {
  const task = await world.script('Edited', '#!/bin/bash\necho one\n')
  const page = await world.page(`/tasks/${task.id}`)
  await page.locator('.cm-content[data-language="shell"]').waitFor()
  await write(page, '#!/bin/bash\necho two\n')
  await page.keyboard.press('Control+s')
  await page.getByText('Version 2').waitFor()
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByText('1 line added, 1 removed').waitFor()
  // Tab indents; Esc followed by Tab leaves the editor.
  await page.getByRole('tab', { name: 'Script' }).click()
  await page.getByRole('textbox', { name: 'Script', exact: true }).click()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => !!document.activeElement?.closest('.cm-editor'))).toBe(false)
})

test('a page with unsaved changes is not left by accident', async () => {
  const task = await world.script('Half done', '#!/bin/bash\ntrue\n')
  const page = await world.page(`/tasks/${task.id}`)
  await page.getByLabel('Description').fill('not yet')
  await page.getByRole('link', { name: /^Jobs/ }).click()
  await dialog(page).getByText('Leave without saving?').waitFor()
  await dialog(page).getByRole('button', { name: 'Keep editing' }).click()
  expect(page.url()).toContain(task.id)
  await page.getByRole('link', { name: /^Jobs/ }).click()
  await dialog(page).getByRole('button', { name: 'Discard changes' }).click()
  await page.waitForURL(world.at('/jobs'))
})

test('people are added to and removed from the access list, which says who sees the task', async () => {
  const task = await world.script('Guarded', '#!/bin/bash\ntrue\n')
  await world.member('user')
  const page = await world.page(`/tasks/${task.id}/access`)
  await page.getByText('only managers and admins can see it').waitFor()
  await page.getByRole('combobox', { name: 'Add people or tags' }).fill('user@example.org')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('may run it, on the access list').waitFor()
  await page.getByRole('button', { name: 'Remove user@example.org' }).click()
  await page.getByText('only managers and admins can see it').waitFor()
})

test('the secret key is hidden until it is requested, and its call runs the task', async () => {
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

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
