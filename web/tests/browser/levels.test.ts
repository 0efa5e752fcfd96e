import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { idle, type Person, visit, World } from './world'

const LEVELS = ['viewer', 'user', 'manager', 'admin'] as const
type Level = (typeof LEVELS)[number]
/** Managers run only tasks whose access list names them. */
const RUNNERS: Level[] = ['user', 'admin']
const MANAGERS: Level[] = ['manager', 'admin']
const ADMINS: Level[] = ['admin']

/** Page and name of each button, the levels that have it, and its API call. */
const ACTS: [page: string, button: string, whose: Level[], call: string, body?: unknown][] = [
  ['/tasks/$task', 'Run', RUNNERS, 'POST /task/$task/job', {}],
  ['/tasks/$task', 'Access', MANAGERS, 'GET /task/$task/acl'],
  ['/tasks/$task', 'Add argument', ADMINS, 'PATCH /task/$task', {}],
  ['/tasks/$task', 'More', ADMINS, 'GET /task/$task/credentials'],
  [
    '/tasks/$task/triggers',
    'New schedule',
    ADMINS,
    'POST /task/$task/schedule',
    { repeatEvery: '0 8 * * *' },
  ],
  ['/jobs/$job', 'Run again', RUNNERS, 'PUT /job/$job/restart', {}],
  ['/jobs/$waiting', 'Let it run', RUNNERS, 'PUT /job/$waiting/synced'],
  ['/jobs/$waiting', 'Cancel', RUNNERS, 'PUT /job/$waiting/cancel'],
  ['/jobs', 'Delete finished…', ADMINS, 'DELETE /job/finished'],
  ['/monitors/$monitor', 'Mute', ADMINS, 'PUT /monitor/$monitor/mute', {}],
  ['/monitors/$monitor', 'Pause', ADMINS, 'PUT /monitor/$monitor/pause', {}],
  ['/monitors/$monitor', 'Settings', ADMINS, 'PATCH /monitor/$monitor', {}],
  ['/hosts/$host', 'Run a command', ADMINS, 'POST /exec', { command: ['true'], hosts: ['$host'] }],
  ['/hosts/$host', 'Actions for $hostname', ADMINS, 'PATCH /host/$host', {}],
  ['/hosts', 'Add a host', ADMINS, 'POST /api/enrolment', { name: 'by hand' }],
  ['/indicators/$indicator', 'Change access', MANAGERS, 'GET /indicator/$indicator/acl'],
  ['/indicators/$indicator', 'Edit', ADMINS, 'PATCH /indicator/$indicator', { value: 2 }],
  ['/indicators/$indicator', 'Create a public link', ADMINS, 'POST /indicator/$indicator/public'],
  ['/webhooks/$webhook', 'Show the secret key', ADMINS, 'GET /webhook/$webhook/credentials'],
  ['/webhooks/$webhook', 'Send', ADMINS, 'POST /webhook/$webhook/trigger', []],
  ['/webhooks/$webhook', 'Delete', ADMINS, 'DELETE /webhook/$webhook'],
  ['/workflows/$workflow', 'Run', RUNNERS, 'POST /workflows/$workflow/job', {}],
  ['/workflows/$workflow', 'Access', MANAGERS, 'GET /workflows/$workflow/acl'],
  ['/workflows/$workflow', 'Edit', ADMINS, 'PATCH /workflows/$workflow', {}],
  ['/workflows/$workflow/settings', 'Delete', ADMINS, 'DELETE /workflows/$workflow'],
  ['/schedules/$schedule', 'Pause', ADMINS, 'PUT /schedule/$schedule/pause', {}],
  ['/schedules/$schedule', 'Delete', ADMINS, 'DELETE /schedule/$schedule'],
]

let world: World
const people = {} as Record<Level, Person>
const ids: Record<string, string> = {}
/** Replaces `$task` and similar by the records of this test. */
const filled = (text: string) => text.replace(/\$(\w+)/g, (_all, name) => ids[name]!)

beforeAll(async () => {
  world = await World.start({ demo: false })
  for (const level of LEVELS) people[level] = await world.member(level)
  const acl = [people.viewer.email, people.user.email]
  const { id: task } = await world.script('Shared', '#!/bin/bash\ntrue\n', { acl })
  const make = async (path: string, body: unknown) => (await world.api('POST', path, body)).id
  const { id: host, hostname } = await world.host()
  const graph = { nodes: [{ id: 'one', task_id: task }], edges: [] }
  Object.assign(ids, { task, host, hostname })
  ids.job = await make('/job', { task })
  ids.waiting = await make('/job', { task, lifecycle: 'syncing' })
  ids.monitor = await make('/monitor', { name: 'Watched', type: 'push' })
  ids.indicator = await make('/indicator', { title: 'Counted', type: 'counter', value: 1, acl })
  ids.schedule = await make(`/task/${task}/schedule`, { repeatEvery: '0 7 * * *' })
  ids.webhook = await make('/webhook', { name: 'Called', tasks: [task] })
  ids.workflow = await make('/workflows', { name: 'Graph', acl, start: 'one', graph })
})
afterAll(() => world.stop())

/** The names of all enabled buttons on the page. */
function pressable(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('main button, main a')]
      .filter((button) => button.offsetParent && !button.matches(':disabled, [data-disabled]'))
      .map((button) => button.getAttribute('aria-label') ?? button.innerText.trim()),
  )
}

for (const level of LEVELS) {
  test(`a ${level} has exactly the buttons for which the API accepts a ${level}`, async () => {
    const page = await world.page('/', { as: people[level] })
    for (const path of new Set(ACTS.map(([at]) => at))) {
      const acts = ACTS.filter(([at]) => at === path)
      const names = acts.map(([, name]) => filled(name))
      const allowedNames = acts
        .filter(([, , whose]) => whose.includes(level))
        .map(([, name]) => filled(name))
      await visit(page, world.at(filled(path)))
      await page.waitForFunction(
        () =>
          (document.querySelector('main')?.innerText.trim().length ?? 0) > 5 &&
          !document.querySelector('main [aria-busy="true"], main .mantine-Skeleton-root'),
      )
      await idle(page)
      const visibleNames = async () => {
        const pressableNames = await pressable(page)
        return [path, ...names.filter((name) => pressableNames.includes(name))]
      }
      await expect.poll(visibleNames).toEqual([path, ...allowedNames])
    }
  })
}

test('the API refuses what is hidden and accepts what is shown', async () => {
  const wrong: string[] = []
  for (const [, name, whose, call, body] of ACTS)
    for (const level of LEVELS) {
      const [method, path] = call.split(' ') as [string, string]
      const payload = body && JSON.parse(filled(JSON.stringify(body)))
      const { status } = await world.request(method, filled(path), payload, people[level])
      const isRefused = status === 403 || status === 404
      // An action may be impossible the second time; that is not a missing permission.
      const isFine = status < 400 || status === 409
      if (whose.includes(level) ? !isFine : !isRefused)
        wrong.push(`${level}, ${name}: ${call} ${status}`)
    }
  expect(wrong).toEqual([])
})

test('forms are hidden from people who may not send them', async () => {
  const page = await world.page('/', { as: people.manager })
  for (const path of [
    '/hosts/add',
    '/workflows/new',
    '/monitors/$monitor/settings',
    '/indicators/$indicator/edit',
  ]) {
    await visit(page, world.at(filled(path)))
    await page.getByText('Page not found').waitFor()
  }
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
