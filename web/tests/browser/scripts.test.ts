import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pictures, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

const editor = (page: Page) => page.getByRole('textbox', { name: 'Script', exact: true })

/** Replaces the text of the editor. */
async function write(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

test('a script is checked while it is written, and its versions are stored', async () => {
  const page = await world.page('/scripts')
  await page.getByRole('main').getByRole('link', { name: 'New script' }).click()
  await page.getByLabel('File name').fill('tidy.sh')
  await write(page, '#!/bin/bash\nif true; then\n')
  await page.locator('.cm-lint-marker-error').first().waitFor()
  await write(page, '#!/bin/bash\necho one\n')
  await page.locator('.cm-lint-marker-error').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.waitForURL(/\/scripts\/[0-9a-f]{24}$/)
  await page.getByText('First version').waitFor()

  await write(page, '#!/bin/bash\necho two\necho three\n')
  await page.keyboard.press('Control+s')
  await page.getByText('Saved as a new version').waitFor()
  await page.getByRole('radio', { name: 'Version 2 (newest)' }).waitFor()
  await page.getByText('2 lines added, 1 removed').waitFor()
  const changed = page.getByRole('region', { name: 'Changes in version 2' })
  await changed.getByText('echo one').waitFor()
  await changed.getByText('echo three').waitFor()
  await page.getByRole('radio', { name: 'Version 1' }).check()
  await page.getByText('First version').waitFor()
  const id = page.url().match(/[0-9a-f]{24}/)![0]
  const storedFile = () => world.api('GET', `/file/${id}`)
  await expect.poll(storedFile).toMatchObject({ filename: 'tidy.sh', version: 2 })
  // An older version is compared with the newest, and restored as a version of its own.
  await page.getByRole('switch', { name: 'Compare with the newest version' }).check()
  await page
    .getByRole('region', { name: 'Changes since version 1' })
    .getByText('echo two')
    .waitFor()
  await pictures(page, 'script-restore')
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('radio', { name: 'Version 3 (newest)' }).waitFor()
  await expect.poll(() => editor(page).innerText()).toContain('echo one')
  await expect.poll(storedFile).toMatchObject({ filename: 'tidy.sh', version: 3 })
})

test('one button saves the text, the name and the description', async () => {
  const file = { filename: 'both.sh', source: '#!/bin/bash\necho one\n', _type: 'Script' }
  const { id } = await world.api('POST', '/file', file)
  const page = await world.page(`/scripts/${id}`)
  await page.getByLabel('Description').fill('Both at once')
  await write(page, '#!/bin/bash\necho two\n')
  expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(1)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved as a new version').waitFor()
  const stored = { description: 'Both at once', version: 2 }
  expect(await world.api('GET', `/file/${id}`)).toMatchObject(stored)
  await page.getByLabel('File name').fill('renamed.sh')
  await page.keyboard.press('Control+s')
  await page.getByRole('heading', { level: 2, name: 'renamed.sh' }).waitFor()
})

test('a file is uploaded, and a binary file cannot be edited', async () => {
  const page = await world.page('/scripts')
  await page.getByRole('button', { name: 'Upload a file' }).waitFor()
  await page.setInputFiles('input[type="file"]', {
    name: 'picture.bin',
    mimeType: 'application/octet-stream',
    buffer: Buffer.from([0, 1, 2, 255, 254]),
  })
  await page.getByRole('heading', { level: 2, name: 'picture.bin' }).waitFor()
  await page.getByText('This is not a text file').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).first().click(),
  ])
  expect(download.suggestedFilename()).toBe('picture.bin')
})

test('a script that a task uses cannot be deleted, an unused one can', async () => {
  const task = await world.script('Uses it', '#!/bin/bash\ntrue\n')
  const { script_id } = await world.api('GET', `/task/${task.id}`)
  const page = await world.page(`/scripts/${script_id}`)
  await page.getByRole('link', { name: 'Uses it' }).waitFor()
  expect(await page.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
  await world.api('DELETE', `/task/${task.id}`)
  await page.getByText('Not used').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(world.at('/scripts'))
  await page.getByRole('list', { name: 'Scripts' }).getByText('tidy.sh').waitFor()
  await page.getByText('Uses-it.sh').waitFor({ state: 'detached' })
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
