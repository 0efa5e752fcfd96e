import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, until, World } from './world'

let world: World
let other: Person
beforeAll(async () => {
  world = await World.start({ demo: false })
  other = await world.member('admin')
})
afterAll(() => world.stop())

const editor = (page: Page) => page.getByRole('textbox', { name: 'Script', exact: true })
const button = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name })
const notice = (page: Page) => page.getByText(`Changed by ${other.email} in the meantime.`).first()

/** A signed-in page that receives the changes of others. */
async function live(path: string): Promise<Page> {
  const page = await world.page(path)
  await page.getByRole('status', { name: 'Live' }).waitFor()
  return page
}

async function scriptPage(name: string): Promise<{ page: Page; id: string }> {
  const { id } = await world.api('POST', '/file', { filename: name, source: 'echo one\n' })
  const page = await live(`/scripts/${id}`)
  await page.locator('.cm-content[data-language="shell"]').waitFor()
  // An editor that was created again has no mark.
  await editor(page).evaluate((element) => element.setAttribute('data-mark', 'first'))
  return { page, id }
}

const markedEditor = (page: Page) => page.locator('.cm-content[data-mark="first"]')

const source = (id: string) =>
  world.request('GET', `/file/${id}/download`).then((answer) => answer.text())

test('edits of a script are not lost when someone else saves it', async () => {
  const { page, id } = await scriptPage('shared.sh')
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText('echo mine')

  // The other person saves in the console too, in another browser.
  const there = await world.page(`/scripts/${id}`, { as: other })
  await there.locator('.cm-content[data-language="shell"]').click()
  await there.keyboard.press('Control+a')
  await there.keyboard.insertText('echo theirs\n')
  await there.keyboard.press('Control+s')
  await there.getByText('Saved as a new version').waitFor()

  await notice(page).waitFor()
  // The cursor is where it was, so typing continues there.
  await page.keyboard.insertText(' and more')
  await markedEditor(page).getByText('echo mine and more').waitFor()
  await button(page, 'Show the difference').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('echo theirs').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()

  // The second save is refused with a message, and no edit is lost.
  await editor(page).click()
  await page.keyboard.press('Control+s')
  await dialog.getByText('Not saved').waitFor()
  expect(await source(id)).toBe('echo theirs\n')
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await notice(page).waitFor({ state: 'detached' })
  await markedEditor(page).getByText('echo mine and more').waitFor()
  await button(page, 'Save').and(page.locator(':enabled')).click()
  await until(async () => (await source(id)) === 'echo one\necho mine and more', 'saving')
})

test('the version of the other person can be used, and a page without edits updates itself', async () => {
  const { page, id } = await scriptPage('followed.sh')
  await editor(page).click()
  await page.keyboard.insertText('# mine\n')
  await page.getByLabel('Description').fill('also mine')
  await world.api('PUT', `/file/${id}`, { source: 'echo theirs\n' }, other)
  await notice(page).waitFor()
  await button(page, 'Use theirs').click()
  await markedEditor(page).getByText('echo theirs').waitFor()
  expect(await markedEditor(page).innerText()).not.toContain('mine')
  await world.api('PUT', `/file/${id}`, { source: 'echo third\n' }, other)
  await markedEditor(page).getByText('echo third').waitFor()
  await page.getByText('version 3', { exact: true }).waitFor()
  expect(await notice(page).count()).toBe(0)
  // A new version of the text does not change the description.
  expect(await page.getByLabel('Description').inputValue()).toBe('also mine')
})

test('edits in the form of a task are not lost', async () => {
  const task = await world.script('Contested', '#!/bin/bash\necho one\n')
  const page = await live(`/tasks/${task.id}`)
  await page.getByLabel('Description').fill('mine')
  await world.api('PATCH', `/task/${task.id}`, { tags: ['theirs'], os_user: 'nobody' }, other)
  await notice(page).waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('mine')
  await button(page, 'Show the difference').click()
  await page.getByRole('dialog').getByText('os_user').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep mine' }).click()
  await button(page, 'Save').click()
  const saved = await until(async () => {
    const record = await world.api('GET', `/task/${task.id}`)
    return record.description === 'mine' && record
  }, 'saving')
  expect(saved.tags).toEqual(['theirs'])
})

test('edits of a task’s script are not lost when someone else saves it', async () => {
  const task = await world.script('Written twice', '#!/bin/bash\necho one\n')
  const { script_id } = await world.api('GET', `/task/${task.id}`)
  const page = await live(`/tasks/${task.id}`)
  await page.locator('.cm-content[data-language="shell"]').waitFor()
  await editor(page).evaluate((element) => element.setAttribute('data-mark', 'first'))
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText('echo mine')
  await world.api('PUT', `/file/${script_id}`, { source: 'echo theirs\n' }, other)
  await notice(page).waitFor()
  await page.keyboard.insertText(' too')
  await markedEditor(page).getByText('echo mine too').waitFor()
  await page.keyboard.press('Control+s')
  await page.getByRole('dialog').getByText('echo theirs').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Use theirs' }).click()
  await markedEditor(page).getByText('echo theirs').waitFor()
  expect(await source(script_id)).toBe('echo theirs\n')
})

test('edits in the form of a monitor are not lost, and the other fields follow', async () => {
  const { id } = await world.api('POST', '/monitor', { name: 'Backup', type: 'push' })
  const page = await live(`/monitors/${id}/settings`)
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('Mine')
  await world.api('PATCH', `/monitor/${id}`, { name: 'Theirs', description: 'new' }, other)
  await notice(page).waitFor()
  expect(await name.inputValue()).toBe('Mine')
  await page.keyboard.press('Control+s')
  await page.getByRole('dialog').getByText('Not saved').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep mine' }).click()
  await button(page, 'Save').click()
  await until(async () => (await world.api('GET', `/monitor/${id}`)).name === 'Mine', 'saving')
  expect(await world.api('GET', `/monitor/${id}`)).toMatchObject({ description: 'new' })
})

test('edits in the form and the graph of a workflow are not lost', async () => {
  const [a, b] = await Promise.all([
    world.script('First', '#!/bin/bash\ntrue\n'),
    world.script('Second', '#!/bin/bash\ntrue\n'),
  ])
  const node = (task: { id: string }, id: string) => ({ id, task_id: task.id })
  const { id } = await world.api('POST', '/workflows', {
    name: 'Chain',
    start: 'first',
    graph: { nodes: [node(a, 'first')], edges: [] },
  })
  const page = await live(`/workflows/${id}/settings`)
  await button(page, 'Description and tags').click()
  await page.getByLabel('Description').fill('mine')
  await world.api('PATCH', `/workflows/${id}`, { name: 'Chained' }, other)
  await notice(page).waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('mine')
  await button(page, 'Keep mine').click()
  await button(page, 'Save').click()
  const there = () => world.api('GET', `/workflows/${id}`)
  await expect
    .poll(there, { timeout: 45_000 })
    .toMatchObject({ name: 'Chained', description: 'mine' })

  await page.goto(world.at(`/workflows/${id}/graph?edit=true&table=true`))
  await page.getByRole('status', { name: 'Live' }).waitFor()
  await button(page, 'Add step').click()
  const adding = page.getByRole('dialog')
  await adding.getByRole('combobox').fill('Second')
  await page.getByRole('option', { name: /^Second/ }).click()
  await adding.getByRole('button', { name: 'Add step' }).click()
  await page.getByText('Not saved', { exact: true }).waitFor()
  await world.api(
    'PATCH',
    `/workflows/${id}`,
    {
      graph: {
        nodes: [node(a, 'first'), node(b, 'theirs')],
        edges: [{ source: 'first', target: 'theirs', on: 'success' }],
      },
    },
    other,
  )
  await notice(page).waitFor()
  await button(page, 'Show the difference').click()
  await page.getByRole('dialog').getByText('first -> theirs: success').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Use theirs' }).click()
  await page
    .getByRole('row', { name: /theirs/ })
    .first()
    .waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
