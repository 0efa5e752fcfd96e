import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { picture, pictures, press, until, World } from './world'

let world: World
let ids: string[]
beforeAll(async () => {
  world = await World.start({ demo: false })
  const tasks = []
  for (const name of ['fetch', 'build', 'ship'])
    tasks.push(await world.script(name, 'echo "$0" done\n'))
  ids = tasks.map((task) => task.id)
})
afterAll(() => world.stop())

/** Waits for the response: the message of an earlier save can still be visible. */
async function waitUntilSaved(page: Page): Promise<void> {
  const response = page.waitForResponse((each) => each.request().method() === 'PATCH')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await response).ok()).toBe(true)
  await page.getByText('Saved', { exact: true }).last().waitFor()
}

/** Whether the locator appears; the caller repeats a drag that missed. */
async function isThere(locator: Locator): Promise<boolean> {
  const came = locator.first().waitFor({ state: 'attached', timeout: 3_000 })
  return came.then(
    () => true,
    () => false,
  )
}

async function addStep(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add step' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add step' })
  const add = dialog.getByRole('button', { name: 'Add step' })
  // The list may move under the pointer while it is filtered; then the click chooses nothing.
  await until(async () => {
    await dialog.getByRole('combobox').fill(name)
    await page.getByRole('option', { name: new RegExp(`^${name}`) }).click()
    return add.isEnabled()
  }, 'the choice')
  await add.click()
  await dialog.waitFor({ state: 'hidden' })
}

test('a graph is built by mouse: connect by dragging, limit a loop, undo, save', async () => {
  const workflow = await world.api('POST', '/workflows', {
    name: 'by mouse',
    start: 'fetch',
    graph: { nodes: [{ id: 'fetch', task_id: ids[0] }], edges: [] },
  })
  const page = await world.page(`/workflows/${workflow.id}/graph?edit=true`)
  await addStep(page, 'build')
  const handle = (node: string, kind: string) =>
    page.locator(`.react-flow__node[data-id="${node}"] .react-flow__handle.${kind}`)
  await page.getByText('No connection leads to build').waitFor()
  // The graph may still move to make space for the new step.
  await until(async () => {
    await handle('fetch', 'source').dragTo(handle('build', 'target'))
    return isThere(page.locator('.react-flow__edge'))
  }, 'the edge')
  await page.getByText('No connection leads to').waitFor({ state: 'hidden' })
  // A connection that leads back has a limit immediately, and the panel shows it.
  const most = page.getByLabel('Maximum passes')
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
  await page.getByText('No connection leads to ship').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('No connection leads to').waitFor({ state: 'hidden' })
  await waitUntilSaved(page)
  const { graph } = await world.api('GET', `/workflows/${workflow.id}`)
  expect(graph.edges).toEqual([
    { source: 'fetch', target: 'build', on: 'success' },
    { source: 'build', target: 'fetch', on: 'success', max_visits: 5 },
  ])
})

test('a loop is created by keyboard, and its run shows every visit', async () => {
  const workflow = await world.api('POST', '/workflows', {
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
  const page = await world.page(`/workflows/${workflow.id}/graph?edit=true&table=true`)
  await page.getByRole('button', { name: 'Connect' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Connect two steps' })
  await choose(page, 'From step', 'build')
  await choose(page, 'To step', 'fetch')
  await dialog.getByLabel('Maximum passes').fill('4')
  await dialog.getByRole('button', { name: 'Connect' }).press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('cell', { name: 'success → fetch (at most 4×)' }).waitFor()
  // In the table a connection is changed from its step.
  await page.getByRole('row').nth(2).getByRole('button', { name: 'Actions' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Edit' }).press('Enter')
  await page.getByRole('button', { name: 'Change connection: success → fetch' }).press('Enter')
  await page.getByLabel('Maximum passes').fill('2')
  await page.getByRole('cell', { name: 'success → fetch (at most 2×)' }).waitFor()
  await page.keyboard.press('Control+s')
  await page.getByText('Saved', { exact: true }).waitFor()
  const job = await world.api('POST', `/workflows/${workflow.id}/job`, {})
  await page.goto(world.at(`/workflows/${workflow.id}/graph?job=${job.id}`))
  const build = page.locator('.react-flow__node[data-id="build"]')
  await build.getByText('×3').waitFor()
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('row').nth(2).getByRole('link', { name: 'Visit 2' }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
  await page.goto(world.at(`/jobs/${job.id}`))
  await page.getByText('build → fetch (success)').waitFor()
})

test('a graph is built by keyboard alone, and its run is shown live', async () => {
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
  await page.getByRole('button', { name: 'Create', exact: true }).press('Enter')
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
  // The run appears without a reload, and every step changes to succeeded.
  await page.goto(world.at(`/workflows/${id}/graph?job=${job.id}`))
  for (const node of ['fetch', 'build', 'ship'])
    await page.locator(`.react-flow__node[data-id="${node}"] .flow-node[data-look="ok"]`).waitFor()
  await page.locator('.react-flow__node[data-id="build"]').click()
  await page.getByRole('link', { name: 'Open job' }).click()
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
  const field = page.getByRole('combobox', { name: label })
  const option = page.getByRole('option', { name })
  // A dialog that opens takes the focus, which closes the list without a choice.
  await until(async () => {
    await field.fill('')
    await field.pressSequentially(name)
    await option.waitFor()
    await field.press('ArrowDown')
    await field.press('Enter')
    const isClosed = await option.waitFor({ state: 'hidden', timeout: 3_000 }).then(
      () => true,
      () => false,
    )
    return isClosed && (await field.inputValue()) === name
  }, `the choice of ${name}`)
}

test('a run that waits for a person is marked, in the graph and in the table', async () => {
  const host = await world.host()
  const approval = await world.api('POST', '/task', {
    name: 'ask',
    type: 'approval',
    approvers: ['ada@example.org'],
    host_id: host.id,
  })
  const workflow = await world.api('POST', '/workflows', {
    name: 'with a person',
    start: 'fetch',
    graph: {
      nodes: [
        { id: 'fetch', task_id: ids[0] },
        { id: 'ask', task_id: approval.id },
      ],
      edges: [{ source: 'fetch', target: 'ask' }],
    },
  })
  const page = await world.page(`/workflows/${workflow.id}`)
  await world.api('POST', `/workflows/${workflow.id}/job`, {})
  await page.locator('.flow-node[data-look="wait"]').waitFor()
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('row').nth(2).getByRole('link', { name: 'Open job' }).waitFor()
  await until(async () => (await world.api('GET', '/-/needs')).length === 1, 'a need')
})

test('a step runs another workflow, and their jobs link to each other', async () => {
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
  await page.getByText('No connection leads to inner').waitFor()
  await page.getByRole('button', { name: 'Connect' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect two steps' })
  await choose(page, 'From step', 'fetch')
  await choose(page, 'To step', 'inner')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await waitUntilSaved(page)
  const { graph } = await world.api('GET', `/workflows/${outer.id}`)
  expect(graph.nodes[1]).toEqual({ id: 'inner', workflow_id: inner.id })
  const job = await world.api('POST', `/workflows/${outer.id}/job`, {})
  await page.goto(world.at(`/workflows/${outer.id}/graph?job=${job.id}`))
  const innerNode = page.locator('.react-flow__node[data-id="inner"] .flow-node[data-look="ok"]')
  await innerNode.waitFor()
  await innerNode.click()
  await page.getByRole('link', { name: 'Open job' }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f]{24}/)
  // The job of the inner workflow links back to the job of the outer one.
  await page.getByRole('link', { name: 'of a workflow' }).click()
  await page.waitForURL(new RegExp(`/jobs/${job.id}`))
})

test('a finished run can run again, and can resume only if a step failed', async () => {
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
  // The resumed run succeeds: it cannot be resumed any more, but run again.
  await expect.poll(() => resume.count()).toBe(0)
  await again.waitFor()
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

test('a finished run is run again from a step, and the steps before it keep their output', async () => {
  const [first, second] = await Promise.all([
    world.script('Count', '#!/bin/bash\necho \'["seven"]\'\n'),
    world.script('Use', '#!/bin/bash\necho "got $1"\n', {
      task_arguments: [{ type: 'input', label: 'n', order: 0 }],
    }),
  ])
  const workflow = await world.api('POST', '/workflows', {
    name: 'from a step',
    start: 'count',
    graph: {
      nodes: [
        { id: 'count', task_id: first.id },
        { id: 'use', task_id: second.id },
      ],
      edges: [{ source: 'count', target: 'use', on: 'success' }],
    },
  })
  const run = await world.api('POST', `/workflows/${workflow.id}/job`, {})
  const runs = () =>
    world.api<{ _type: string; name: string }[]>('GET', `/workflows/${workflow.id}/job`)
  const isOver = async () => (await world.api('GET', `/job/${run.id}`)).lifecycle === 'finished'
  await until(isOver, 'the end of the run')
  const page = await world.page(`/workflows/${workflow.id}/graph?step=use`)
  await page.getByRole('button', { name: 'Run from this step' }).click()
  await page.getByText('Started from use').waitFor()
  await page.waitForURL((url) => url.search.includes('job=') && !url.search.includes(run.id))
  await page.getByLabel('Log').getByText('got seven').waitFor()
  const names = (await runs()).map((job) => job.name)
  expect([
    names.filter((name) => name === 'Count'),
    names.filter((name) => name === 'Use'),
  ]).toEqual([['Count'], ['Use', 'Use']])
})

test('a step is run again with other arguments', async () => {
  const task = await world.script('Greet', '#!/bin/bash\necho "hello $1"\n', {
    task_arguments: [{ type: 'input', label: 'who', order: 0 }],
  })
  const workflow = await world.api('POST', '/workflows', {
    name: 'other arguments',
    start: 'greet',
    graph: { nodes: [{ id: 'greet', task_id: task.id }], edges: [] },
  })
  const path = `/workflows/${workflow.id}/job`
  const run = await world.api('POST', path, { task_arguments: ['Ada'] })
  const isOver = async () => (await world.api('GET', `/job/${run.id}`)).lifecycle === 'finished'
  await until(isOver, 'the end of the run')
  const page = await world.page(`/workflows/${workflow.id}/graph?step=greet`)
  await page.getByRole('button', { name: 'Run with other arguments' }).click()
  const dialog = page.getByRole('dialog', { name: 'Run from greet with other arguments' })
  const who = dialog.getByLabel('who')
  await who.waitFor()
  expect(await who.inputValue()).toBe('Ada')
  await who.fill('Grace')
  await dialog.getByRole('button', { name: /^Run/ }).click()
  await dialog.getByRole('link', { name: 'Open', exact: true }).waitFor()
  const inputs = async () => {
    const rows = await world.api<{ task_arguments_values: string[] }[]>('GET', `${path}s/input`)
    return rows.map((row) => row.task_arguments_values)
  }
  expect(await inputs()).toEqual([['Grace'], ['Ada']])
})

test('a step opens beside the newest run, and the editor maps its arguments', async () => {
  const lookup = await world.script(
    'lookup',
    `echo searching\necho '{"output": [{"user": "ada"}, "second"]}'\n`,
  )
  const greet = await world.script('greet', 'echo "hello $1"\n', {
    task_arguments: [{ type: 'input', label: 'who' }],
  })
  const flow = await world.api('POST', '/workflows', {
    name: 'mapped',
    start: 'lookup',
    graph: {
      nodes: [
        { id: 'lookup', task_id: lookup.id },
        { id: 'greet', task_id: greet.id },
        { id: 'repair', task_id: ids[1] },
      ],
      edges: [
        { source: 'lookup', target: 'greet' },
        { source: 'lookup', target: 'repair', on: 'failure' },
      ],
    },
  })
  const run = async () => {
    const { id } = await world.api('POST', `/workflows/${flow.id}/job`, {})
    await until(async () => (await world.api('GET', `/job/${id}`)).ended_at, 'the end')
    return id as string
  }
  await run()
  const page = await world.page(`/workflows/${flow.id}`)
  const node = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
  await node('lookup').locator('[data-look="ok"]').waitFor()
  // The edge that the run did not follow is drawn with less weight.
  await page.locator('.react-flow__edge.flow-skipped').getByText('failure').waitFor()
  await node('lookup').click()
  const panel = page.getByRole('complementary', { name: 'Step lookup' })
  await panel.getByText('searching').waitFor()
  await node('lookup').locator('[data-selected="true"]').waitFor()
  await panel.getByText('Output', { exact: true }).click()
  await panel.getByText('"user": "ada"').waitFor()
  expect(new URL(page.url()).searchParams.get('step')).toBe('lookup')
  await node('greet').click()
  const next = page.getByRole('complementary', { name: 'Step greet' })
  await next.getByText('Input', { exact: true }).click()
  await next.getByText('who', { exact: true }).waitFor()
  await next.getByText('"user": "ada"').waitFor()
  await pictures(page, 'workflow-step')
  await page.getByRole('button', { name: 'Edit' }).click()
  await node('greet').click()
  await page.getByRole('combobox', { name: 'who' }).fill('user')
  await page.getByRole('option', { name: 'lookup › Output 1 › user: ada' }).click()
  await pictures(page, 'workflow-arguments')
  await drag(page, node('repair'))
  const boxBefore = await node('repair').boundingBox()
  await waitUntilSaved(page)
  const { graph } = await world.api('GET', `/workflows/${flow.id}`)
  expect(graph.nodes[1].arguments).toEqual([{ node: 'lookup', keys: ['user'] }])
  // All have a place now: no step moves when another one is added.
  expect(graph.nodes.every((each: { position?: object }) => each.position)).toBe(true)
  await page.getByRole('button', { name: 'Add next step' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'New task' }).click()
  const dialog = page.getByRole('dialog', { name: 'New task' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('made here')
  await picture(page, 'workflow-new-task')
  await dialog.getByRole('button', { name: 'Create and add step' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await node('made here').locator('[data-selected="true"]').waitFor()
  const boxAfter = await node('repair').boundingBox()
  expect([boxAfter!.x, boxAfter!.y]).toEqual([boxBefore!.x, boxBefore!.y])
  // The other value of the earlier run, dragged to the argument.
  await node('greet').click()
  await page
    .locator('.flow-chip', { hasText: 'lookup › Output 2' })
    .dragTo(page.getByRole('combobox', { name: 'who' }))
  await expect
    .poll(() => page.getByRole('combobox', { name: 'who' }).inputValue())
    .toBe('lookup › Output 2: second')
  // A text that combines values, shown with those of the earlier run.
  await page.getByRole('combobox', { name: 'who' }).fill('Template')
  await page.getByRole('option', { name: 'Template' }).click()
  await page.getByLabel('Template of who').fill('Dear {{lookup.output[0].user}}')
  await page.getByText('With the last run: Dear ada').waitFor()
  await waitUntilSaved(page)
  const second = await run()
  const steps = await world.api('GET', `/workflows/${flow.id}/job/${second}/steps`)
  const job = steps.find((step: { node_id: string }) => step.node_id === 'greet')
  expect((await world.api('GET', `/job/${job.job_id}`)).task_arguments_values).toEqual(['Dear ada'])
  expect(steps.map((step: { node_id: string }) => step.node_id)).toContain('made here')
})

test('the edges stay while the page changes, and a phone shows steps that can be read', async () => {
  const places = [0, 260, 520, 780].map((x) => ({ x, y: 0 }))
  const nodes = places.map((position, n) => ({ id: `step ${n}`, task_id: ids[0], position }))
  const flow = await world.api('POST', '/workflows', {
    name: 'wide',
    start: 'step 0',
    graph: {
      nodes,
      edges: [1, 2, 3].map((n) => ({ source: `step ${n - 1}`, target: `step ${n}` })),
    },
  })
  const page = await world.page(`/workflows/${flow.id}/graph?edit=true`)
  const edges = page.locator('.react-flow__edge')
  await expect.poll(() => edges.count()).toBe(3)
  await page.evaluate(() => {
    const isEdge = (node: Node) => (node as Element).matches?.('.react-flow__edge')
    const watch = new MutationObserver((changes) => {
      if (changes.some((change) => [...change.removedNodes].some(isEdge)))
        document.body.dataset.lostEdge = 'true'
    })
    watch.observe(document.querySelector('.flow')!, { childList: true, subtree: true })
  })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('.react-flow.dark').waitFor()
  await page.setViewportSize({ width: 1200, height: 800 })
  await page.locator('.react-flow__node').first().click()
  await page.locator('.flow-node[data-selected="true"]').waitFor()
  expect(await page.locator('body').getAttribute('data-lost-edge')).toBeNull()
  expect(await edges.count()).toBe(3)
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of ['graph?edit=true', 'graph']) {
    await page.goto(world.at(`/workflows/${flow.id}/${path}`))
    const first = page.locator('.react-flow__node[data-id="step 0"]')
    await expect.poll(async () => (await first.boundingBox())?.width).toBeGreaterThan(140)
    const box = (await first.boundingBox())!
    expect(box.x).toBeGreaterThanOrEqual(0)
    expect(box.x + box.width).toBeLessThanOrEqual(390)
  }
  // To be read only, it is laid out again: from top to bottom, all of it visible.
  const last = (await page.locator('.react-flow__node[data-id="step 3"]').boundingBox())!
  expect(last.x + last.width).toBeLessThanOrEqual(390)
  await pictures(page, 'workflow-wide')
})

async function drag(page: Page, step: Locator): Promise<void> {
  const box = (await step.boundingBox())!
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 + 20, box.y + box.height / 2 + 60, { steps: 5 })
  await page.mouse.up()
}

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
