import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { press, World } from './world'

let world: World
let vic: { email: string; password: string; id: string }
beforeAll(async () => {
  world = await World.start({ demo: false })
  vic = await world.member('viewer')
})
afterAll(() => world.stop())

/** Runs until it is canceled, or until its parent has ended. */
const never = () => `while [ -d '${world.server.folder}' ]; do sleep 0.05; done`

async function start(taskId: string, task_arguments: unknown[] = []): Promise<string> {
  return (await world.api('POST', '/job', { task: taskId, task_arguments })).id
}

async function approval(name: string, more = {}): Promise<{ id: string }> {
  return world.api('POST', '/task', { name, type: 'approval', approvers: [vic.email], ...more })
}

test('a running job is canceled from its page', async () => {
  const task = await world.script('Endless', `#!/bin/bash\necho begun\n${never()}`)
  const page = await world.page(`/jobs/${await start(task.id)}`)
  await page.locator('.log-text', { hasText: 'begun' }).waitFor()
  await page.getByRole('status').filter({ hasText: 'Running' }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Keep running' }).waitFor()
  const ambiguous = page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true })
  expect(await ambiguous.count()).toBe(0)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }).click()
  await page.getByRole('status').filter({ hasText: 'Canceled' }).waitFor()
  await page.getByRole('button', { name: 'Run again' }).waitFor()
})

test('only an approver can decide, and sees what will run', async () => {
  const target = await world.script('Release', '#!/bin/bash\necho released')
  const task = await approval('May we release')
  await world
    .api('PATCH', `/task/${target.id}`, {
      triggers: [{ task: task.id, event: 'success' }],
    })
    .catch(() => {})
  const id = await start(task.id)
  // The owner sees it but is not an approver.
  const other = await world.page(`/jobs/${id}`)
  await expect.poll(() => other.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
  const page = await world.page(`/jobs/${id}`, { as: vic })
  await page.getByRole('region', { name: 'What the approval will run' }).waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('status').filter({ hasText: 'Succeeded' }).waitFor()
  await other.getByRole('status').filter({ hasText: 'Succeeded' }).waitFor()
})

test('decisions are made by keys in the inbox, which says when none is pending', async () => {
  const task = await approval('Restart the shop', { description: 'Shall the shop restart?' })
  await start(task.id)
  const page = await world.page('/inbox', { as: vic })
  await page.getByRole('link', { name: 'Shall the shop restart?' }).waitFor()
  // Without a row in focus, the keys decide nothing.
  await press(page, 'a', 'Shift+R', 'j', 'Shift+R')
  await page.getByText('Nothing is waiting for you').waitFor()
  await page.getByRole('link', { name: 'Rejected: Restart the shop' }).waitFor()
  // A decision that is requested while the page is open appears without a reload.
  await start(task.id)
  await page.getByRole('link', { name: 'Shall the shop restart?' }).waitFor()
  await press(page, 'j', 'a')
  await page.getByRole('link', { name: 'Approved: Restart the shop' }).waitFor()
})

test('a job that waits for input receives it through a form', async () => {
  const task = await world.script('Greet', '#!/bin/bash\necho "hello $1"', {
    task_arguments: [{ type: 'input', label: 'Whom', order: 0, required: true }],
  })
  const { id } = await world.api('POST', '/job', { task: task.id, lifecycle: 'onhold' })
  const page = await world.page('/inbox')
  await page.getByRole('link', { name: 'Answer' }).click()
  const form = page.getByRole('dialog')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByLabel('Whom').fill('world')
  await page.keyboard.press('Control+Enter')
  await page.locator('.log-text', { hasText: 'hello world' }).waitFor()
  expect(page.url()).toContain(id)
  await page.getByRole('tab', { name: 'Input' }).click()
  await page.getByRole('cell', { name: 'world' }).waitFor()
})

test('a failed job opens at its last lines, and its result says how it ended', async () => {
  const task = await world.script(
    'Breaks',
    `#!/bin/bash\nseq -f 'step %g' 1 2000\necho data > "$BELVEDERE_FILES/left.txt"\necho 'it broke here'\nexit 7`,
  )
  const id = await start(task.id)
  const page = await world.page(`/jobs/${id}`)
  await page.getByRole('status').filter({ hasText: 'Failed' }).waitFor()
  await page.reload()
  await page.locator('.log-text', { hasText: 'it broke here' }).waitFor()
  await page.getByRole('tab', { name: 'Result' }).click()
  await page.waitForURL(/\/result$/)
  await page.locator('dd', { hasText: 'it broke here' }).waitFor()
  expect(await page.locator('dt', { hasText: 'Exit code' }).locator('+ dd').innerText()).toBe('7')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download left.txt' }).click(),
  ])
  expect(download.suggestedFilename()).toBe('left.txt')
})

test('changes in the script since the last good run are shown', async () => {
  const task = await world.script('Changed', '#!/bin/bash\necho fine\nexit 0')
  const good = await start(task.id)
  const page = await world.page(`/jobs/${good}`)
  await page
    .getByRole('status')
    .filter({ hasText: /Normal|Succeeded/ })
    .waitFor()
  const { script_id } = await world.api('GET', `/task/${task.id}`)
  await world.api('PUT', `/file/${script_id}`, {
    filename: 'Changed.sh',
    source: '#!/bin/bash\necho worse\nexit 1',
  })
  const bad = await start(task.id)
  await page.goto(world.at(`/jobs/${bad}/result`))
  await page.getByRole('status').filter({ hasText: 'Failed' }).waitFor()
  const diff = page.getByRole('region', { name: 'Script changes since the last successful run' })
  await diff.getByText('echo fine').waitFor()
  await diff.getByText('echo worse').waitFor()
})

test('an earlier attempt has its own log', async () => {
  const once = join(world.server.folder, 'tried')
  const task = await world.script(
    'Retried',
    `#!/bin/bash\nif [ -e '${once}' ]; then echo second try; else touch '${once}'; echo first try; exit 1; fi`,
    { retry: { times: 1, delay: 0 } },
  )
  const page = await world.page(`/jobs/${await start(task.id)}`)
  await page.locator('.log-text', { hasText: 'second try' }).waitFor()
  await page.getByLabel('Attempt').selectOption({ value: '1' })
  await page.locator('.log-text', { hasText: 'first try' }).waitFor()
  expect(page.url()).toContain('attempt=1')
})

test('a job runs again with the same values or with others', async () => {
  const task = await world.script('Again', '#!/bin/bash\necho "got $1"', {
    task_arguments: [{ type: 'input', label: 'What', order: 0, required: true }],
  })
  const id = await start(task.id, ['this'])
  const page = await world.page(`/jobs/${id}`)
  await page.locator('.log-text', { hasText: 'got this' }).waitFor()
  await page.getByRole('button', { name: 'More restart options' }).click()
  await page.getByRole('menuitem', { name: /^Same as #/ }).click()
  const form = page.getByRole('dialog')
  await expect.poll(() => form.getByLabel('What').inputValue()).toBe('this')
  await form.getByLabel('What').fill('that')
  await form.getByRole('button', { name: /^Run/ }).click()
  await form.getByRole('link', { name: /Open/ }).click()
  await page.locator('.log-text', { hasText: 'got that' }).waitFor()
  await page.getByRole('link', { name: /Run again from/ }).waitFor()
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
