import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from './world'

const SECRET = 'hush-4711-first'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

type FieldChange = [field: string, before: string, after: unknown]
/** The change, its record, its name in the audit, and one field that it changed. */
const DEEDS: [name: string, act: () => Promise<string>, action: string, shown: FieldChange][] = [
  [
    'an indicator',
    createAndChange('/indicator', { title: 'Queue', type: 'text' }, { title: 'Line' }),
    'indicator.change',
    ['title', 'Queue', 'Line'],
  ],
  [
    'a monitor',
    createAndChange('/monitor', { name: 'Backup', type: 'push' }, { name: 'Copies' }),
    'monitor.edit',
    ['name', 'Backup', 'Copies'],
  ],
  ['a host', tagHost, 'host.change', ['tags', '[]', '["edge"]']],
  [
    'a task',
    createAndChange('/task', { name: 'Ask', type: 'dummy' }, { name: 'Ask all' }),
    'task.change',
    ['name', 'Ask', 'Ask all'],
  ],
  ['an approval', approve, 'job.approve', ['state', 'not set', 'success']],
  ['a workflow', changeWorkflow, 'workflow.change', ['name', 'Chain', 'Longer chain']],
  [
    'a webhook',
    createAndChange('/webhook', { name: 'Door', tasks: [] }, { name: 'Gate' }),
    'webhook.change',
    ['name', 'Door', 'Gate'],
  ],
  ['a secret key', rotate, 'webhook.rotate_secret', ['overlap', 'not set', '3600']],
  ['a schedule', pause, 'schedule.pause', ['paused', 'not set', expect.stringMatching(/^\d{4}-/)]],
  ['an access list', share, 'task.acl', ['acl', '[]', '["ada@example.org"]']],
  ['a person', promote, 'member.change', ['level', 'viewer', 'manager']],
  ['a token', token, 'token.revoke', ['name', 'ci runner', 'not set']],
  ['a secret', setSecret, 'secret.set', ['version', '1', '2']],
]

function createAndChange(path: string, first: unknown, then: unknown): () => Promise<string> {
  return async () => {
    const { id } = await world.api('POST', path, first)
    await world.api('PATCH', `${path}/${id}`, then)
    return id
  }
}

const dummy = async (): Promise<string> =>
  (await world.api('POST', '/task', { name: 'Dummy', type: 'dummy' })).id

async function tagHost(): Promise<string> {
  const { id } = await world.host()
  await world.api('PATCH', `/host/${id}`, { tags: ['edge'] })
  return id
}

async function approve(): Promise<string> {
  const definition = { name: 'May we', type: 'approval', approvers: ['ada@example.org'] }
  const task = await world.api('POST', '/task', definition)
  const { id } = await world.api('POST', '/job', { task: task.id })
  await world.api('PUT', `/job/${id}/approve`)
  return id
}

async function changeWorkflow(): Promise<string> {
  const graph = { nodes: [{ id: 'one', task_id: await dummy() }], edges: [] }
  return createAndChange(
    '/workflows',
    { name: 'Chain', start: 'one', graph },
    { name: 'Longer chain' },
  )()
}

async function rotate(): Promise<string> {
  const { id } = await world.api('POST', '/webhook', { name: 'Rotated', tasks: [] })
  await world.api('POST', `/webhook/${id}/credentials/rotate`, { overlap: 3600 })
  return id
}

async function pause(): Promise<string> {
  const { id } = await world.api('POST', `/task/${await dummy()}/schedule`, {
    repeatEvery: '0 7 * * *',
  })
  await world.api('PUT', `/schedule/${id}/pause`, {})
  return id
}

async function share(): Promise<string> {
  const id = await dummy()
  await world.api('PATCH', `/task/${id}/acl`, { action: 'add', users: ['ada@example.org'] })
  return id
}

async function promote(): Promise<string> {
  const { id } = await world.member('viewer')
  await world.api('PATCH', `/api/member/${id}`, { credential: 'manager' })
  return id
}

async function token(): Promise<string> {
  const { id } = await world.api('POST', '/api/token', { name: 'ci runner' })
  await world.api('DELETE', `/api/token/${id}`)
  return id
}

async function setSecret(): Promise<string> {
  for (const value of [SECRET, `${SECRET}-2`]) await world.api('PUT', '/secret/KEY', { value })
  return (await world.api<{ id: string }[]>('GET', '/secret'))[0]!.id
}

test('every change is recorded with its author and the values before and after it', async () => {
  const page = await world.page('/audit')
  for (const [name, act, action, [field, before, after]] of DEEDS) {
    const id = await act()
    await page.goto(world.at(`/audit?object_id=${id}&action=${action}`))
    const row = page
      .getByRole('button', { name: new RegExp(`${action} ada@example\\.org`) })
      .first()
    await row.click()
    const line = page.getByRole('table', { name: 'Before and after' }).locator('tr', {
      has: page.getByRole('cell', { name: field, exact: true }),
    })
    await line.waitFor()
    const cells = (await line.locator('td').allInnerTexts()).map((text) => text.trim())
    expect([name, ...cells]).toEqual([name, field, before, after])
    // Secrets are neither on the page nor in the response that it was loaded from.
    expect(await page.content()).not.toContain(SECRET)
  }
  const all = JSON.stringify(await world.api('GET', '/api/audit?limit=1000'))
  expect(all).not.toContain(SECRET)
})

test('the audit is filtered by the address, and only admins can read it', async () => {
  await token()
  const page = await world.page('/audit')
  await page.getByLabel('What').fill('token.revoke')
  await page.waitForURL(/action=token\.revoke/)
  const actions = page.locator('.audit-row .action-code')
  await expect
    .poll(async () => new Set(await actions.allInnerTexts()))
    .toEqual(new Set(['token.revoke']))
  // Words, and the name of an existing object, even if the row has only an id.
  await page.getByText('Token revoked').first().waitFor()
  const { id } = await world.api('POST', '/webhook', { name: 'Revealed', tasks: [] })
  await world.api('GET', `/webhook/${id}/credentials`)
  await page.goto(world.at('/audit?action=webhook.reveal_secret'))
  await page.getByRole('button', { name: /Webhook secret key shown.*webhook Revealed/ }).waitFor()
  const manager = await world.member('manager')
  await page.goto(world.at('/audit?action=member.accept'))
  await page.getByRole('button', { name: /Invitation accepted.*member manager@/ }).waitFor()
  // Without space for the codes, the words are sufficient.
  await page.setViewportSize({ width: 390, height: 844 })
  await actions.first().waitFor({ state: 'hidden' })
  expect((await world.request('GET', '/api/audit', undefined, manager)).status).toBe(403)
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
