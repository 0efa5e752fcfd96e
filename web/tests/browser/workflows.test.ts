import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { picture, press, until, World } from './world'

let world: World
let ids: string[]
beforeAll(async () => {
  world = await World.start({ demo: false })
  const made = []
  for (const name of ['fetch', 'build', 'ship'])
    made.push(await world.script(name, 'echo "$0" done\n'))
  ids = made.map((task) => task.id)
})
afterAll(() => world.stop())

async function saved(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
}

/** Whether it comes: a drag that missed is made again. */
async function isThere(what: Locator): Promise<boolean> {
  const came = what.first().waitFor({ state: 'attached', timeout: 3_000 })
  return came.then(
    () => true,
    () => false,
  )
}

async function addStep(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add step' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add step' })
  await dialog.getByRole('combobox').fill(name)
  await page.getByRole('option', { name: new RegExp(`^${name}`) }).click()
  await dialog.getByRole('button', { name: 'Add step' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

test('a graph is built by mouse: connect by dragging, bound a circle, undo, save', async () => {
  const made = await world.api('POST', '/workflows', {
    name: 'by mouse',
    start: 'fetch',
    graph: { nodes: [{ id: 'fetch', task_id: ids[0] }], edges: [] },
  })
  const page = await world.page(`/workflows/${made.id}/graph?edit=true`)
  await addStep(page, 'build')
  const handle = (node: string, kind: string) =>
    page.locator(`.react-flow__node[data-id="${node}"] .react-flow__handle.${kind}`)
  await page.getByText('Nothing leads to build').waitFor()
  // The picture may still move to make room for the new step.
  await until(async () => {
    await handle('fetch', 'source').dragTo(handle('build', 'target'))
    return isThere(page.locator('.react-flow__edge'))
  }, 'the edge')
  await page.getByText('Nothing leads to').waitFor({ state: 'hidden' })
  // What leads back is bounded at once, and the panel says how often.
  const most = page.getByLabel('Maximum number of times')
  await until(async () => {
    await handle('build', 'source').dragTo(handle('fetch', 'target'))
    return isThere(most)
  }, 'the bound')
  expect(await most.inputValue()).toBe('3')
  await most.fill('')
  await most.blur()
  await page.getByText('This would be an endless loop').waitFor()
  await most.fill('5')
  await page.locator('.react-flow__edge.flow-round').getByText('↻ ≤5×').waitFor()
  await addStep(page, 'ship')
  await page.getByText('Nothing leads to ship').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Nothing leads to').waitFor({ state: 'hidden' })
  await saved(page)
  const { graph } = await world.api('GET', `/workflows/${made.id}`)
  expect(graph.edges).toEqual([
    { source: 'fetch', target: 'build', on: 'success' },
    { source: 'build', target: 'fetch', on: 'success', max_visits: 5 },
  ])
})

test('a circle is drawn by keyboard, and its run shows every visit', async () => {
  const made = await world.api('POST', '/workflows', {
    name: 'round',
    start: 'fetch',
    graph: {
      nodes: [
        { id: 'fetch', task_id: ids[0] },
        { id: 'build', task_id: ids[1] },
      ],
      edges: [{ source: 'fetch', target: 'build' }],
    },
  })
  const page = await world.page(`/workflows/${made.id}/graph?edit=true&table=true`)
  await page.getByRole('button', { name: 'Connect' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Connect two steps' })
  await choose(page, 'From step', 'build')
  await choose(page, 'To step', 'fetch')
  await dialog.getByLabel('Maximum number of times').fill('4')
  await dialog.getByRole('button', { name: 'Connect' }).press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('cell', { name: 'success → fetch (at most 4×)' }).waitFor()
  // In the table a connection is changed from its step.
  await page.getByRole('row').nth(2).getByRole('button', { name: 'Actions' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Edit' }).press('Enter')
  await page.getByRole('button', { name: 'Change connection: success → fetch' }).press('Enter')
  await page.getByLabel('Maximum number of times').fill('2')
  await page.getByRole('cell', { name: 'success → fetch (at most 2×)' }).waitFor()
  await page.keyboard.press('Control+s')
  await page.getByText('Saved', { exact: true }).waitFor()
  const job = await world.api('POST', `/workflows/${made.id}/job`, {})
  await page.goto(world.at(`/workflows/${made.id}/graph?job=${job.id}`))
  const build = page.locator('.react-flow__node[data-id="build"]')
  await build.getByText('×3').waitFor()
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('row').nth(2).getByRole('link', { name: 'Visit 2' }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
  await page.goto(world.at(`/jobs/${job.id}`))
  await page.getByText('build → fetch (success)').waitFor()
})

test('a graph is built by keyboard alone, run, and followed live', async () => {
  const page = await world.page('/workflows')
  await press(page, 'c')
  await page.getByRole('textbox', { name: 'Name' }).fill('by keys')
  await page.keyboard.press('Tab')
  for (const name of ['fetch', 'build']) {
    await page.keyboard.type(name)
    await page.getByRole('option', { name: new RegExp(`^${name}`) }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
  }
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Create workflow' }).press('Enter')
  await page.waitForURL(/workflows\/[0-9a-f]{24}\/graph\?edit=true/)
  await addStepByKeys(page, 'ship')
  await page.getByRole('button', { name: 'Connect' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Connect two steps' })
  await choose(page, 'From step', 'build')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('always')
  await page.keyboard.press('Escape')
  await choose(page, 'To step', 'ship')
  await dialog.getByRole('button', { name: 'Connect' }).press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.keyboard.press('Control+s')
  await page.getByText('Saved', { exact: true }).waitFor()
  const id = page.url().match(/[0-9a-f]{24}/)![0]
  const { graph } = await world.api('GET', `/workflows/${id}`)
  expect(graph.edges).toEqual([
    { source: 'fetch', target: 'build', on: 'success' },
    { source: 'build', target: 'ship', on: 'always' },
  ])
  await page.getByRole('button', { name: 'Stop editing' }).press('Enter')
  const job = await world.api('POST', `/workflows/${id}/job`, {})
  // The run was picked up without a reload: every step turns good before our eyes.
  await page.goto(world.at(`/workflows/${id}/graph?job=${job.id}`))
  for (const node of ['fetch', 'build', 'ship'])
    await page.locator(`.react-flow__node[data-id="${node}"] .flow-node[data-look="ok"]`).waitFor()
  await page.locator('.react-flow__node[data-id="build"]').click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
})

async function addStepByKeys(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add step' }).press('Enter')
  await page.getByRole('dialog', { name: 'Add step' }).waitFor()
  await page.keyboard.type(name)
  await page.getByRole('option', { name: new RegExp(`^${name}`) }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Add step' }).press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
}

async function choose(page: Page, label: string, name: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).focus()
  await page.keyboard.type(name)
  await page.getByRole('option', { name }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

test('a run that waits for a person shows itself, as picture and as table', async () => {
  const host = await world.host()
  const ask = await world.api('POST', '/task', {
    name: 'ask',
    type: 'approval',
    approvers: ['ada@example.org'],
    host_id: host.id,
  })
  const made = await world.api('POST', '/workflows', {
    name: 'with a person',
    start: 'fetch',
    graph: {
      nodes: [
        { id: 'fetch', task_id: ids[0] },
        { id: 'ask', task_id: ask.id },
      ],
      edges: [{ source: 'fetch', target: 'ask' }],
    },
  })
  const page = await world.page(`/workflows/${made.id}`)
  await world.api('POST', `/workflows/${made.id}/job`, {})
  await page.locator('.flow-node[data-look="wait"]').waitFor()
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('row').nth(2).getByRole('link', { name: 'Open job' }).waitFor()
  await until(async () => (await world.api('GET', '/-/needs')).length === 1, 'a need')
})

test('a step runs a whole workflow, and its job is a click away in both directions', async () => {
  const inner = await world.api('POST', '/workflows', {
    name: 'inner',
    start: 'build',
    graph: { nodes: [{ id: 'build', task_id: ids[1] }], edges: [] },
  })
  const outer = await world.api('POST', '/workflows', {
    name: 'outer',
    start: 'fetch',
    graph: { nodes: [{ id: 'fetch', task_id: ids[0] }], edges: [] },
  })
  const page = await world.page(`/workflows/${outer.id}/graph?edit=true`)
  await addStep(page, 'inner')
  await page.getByText('Nothing leads to inner').waitFor()
  await page.getByRole('button', { name: 'Connect' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect two steps' })
  await choose(page, 'From step', 'fetch')
  await choose(page, 'To step', 'inner')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await saved(page)
  const { graph } = await world.api('GET', `/workflows/${outer.id}`)
  expect(graph.nodes[1]).toEqual({ id: 'inner', workflow_id: inner.id })
  const job = await world.api('POST', `/workflows/${outer.id}/job`, {})
  await page.goto(world.at(`/workflows/${outer.id}/graph?job=${job.id}`))
  const whole = page.locator('.react-flow__node[data-id="inner"] .flow-node[data-look="ok"]')
  await whole.waitFor()
  await whole.click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
  // The job of the inner one leads back to that of the outer one.
  await page.getByRole('link', { name: 'of a workflow' }).click()
  await page.waitForURL(new RegExp(`/jobs/${job.id}`))
})

test('an ended run can run again, and resumes only where a step failed', async () => {
  const marker = join(world.server.folder, 'second-time')
  const flaky = await world.script(
    'flaky',
    `#!/bin/bash\nif [ -e '${marker}' ]; then exit 0; else touch '${marker}'; exit 1; fi`,
  )
  const flow = await world.api('POST', '/workflows', {
    name: 'again',
    start: 'fetch',
    graph: {
      nodes: [
        { id: 'fetch', task_id: ids[0] },
        { id: 'flaky', task_id: flaky.id },
      ],
      edges: [{ source: 'fetch', target: 'flaky' }],
    },
  })
  const failed = await world.api('POST', `/workflows/${flow.id}/job`, {})
  const page = await world.page(`/jobs/${failed.id}`)
  const again = page.getByRole('button', { name: 'Run again' })
  const resume = page.getByRole('button', { name: 'Resume from failed step' })
  await again.waitFor()
  await picture(page, 'workflow-job-failed')
  await resume.click()
  await page.waitForURL((url) => !url.pathname.includes(failed.id))
  // The resumed run succeeds: there is nothing to resume, and all of it can run again.
  await again.waitFor()
  expect(await resume.count()).toBe(0)
  const resumed = page.url()
  await again.click()
  await page.waitForURL((url) => url.href !== resumed)
  await again.waitFor()
  await page.goto(world.at(`/workflows/${flow.id}/jobs`))
  await expect.poll(() => again.count()).toBe(3)
  expect(await resume.count()).toBe(1)
  await picture(page, 'workflow-runs')
  await again.first().click()
  await expect.poll(() => page.getByRole('listitem').count()).toBe(4)
})

test('no page sinned', () => {
  expect(world.sins).toEqual([])
})
