import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROGRAM } from './server'
import { picture, pictures, until, World } from './world'

let world: World
const agents: ChildProcess[] = []
beforeAll(async () => {
  world = await World.start()
})
afterAll(async () => {
  await Promise.all(agents.map(waitForEnd))
  await world.stop()
})

/** A second machine from the server's point of view; another `machine` has none of its files. */
function agent(hostname: string, token?: string, machine = hostname): ChildProcess {
  const folder = join(world.server.folder, machine)
  const words = ['agent', '--server', world.url, '--state', folder, '--hostname', hostname]
  if (token) {
    const file = join(world.server.folder, `${hostname}.token`)
    writeFileSync(file, token)
    words.push('--token-file', file)
  }
  const child = spawn(PROGRAM, words, {
    env: { PATH: process.env.PATH, HOME: world.server.folder, LANG: 'C.UTF-8' },
    stdio: 'ignore',
  })
  agents.push(child)
  return child
}

async function waitForEnd(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  await gone
}

test('the page with the install command shows the new host, and then that it goes offline', async () => {
  const page = await world.page('/hosts/add')
  await page.getByRole('button', { name: 'Create install command' }).click()
  const commands = page.locator('.copy-field code', { hasText: 'install.sh' })
  await expect.poll(() => commands.count()).toBe(2)
  const [withSudo, line] = await commands.allInnerTexts()
  const download = `curl -fsSL ${world.url}/-/install.sh | `
  expect(withSudo).toContain(`${download}sudo BELVEDERE_ENROLMENT_TOKEN=bve_`)
  expect(line).toContain(`${download}BELVEDERE_ENROLMENT_TOKEN=bve_`)
  expect((await fetch(`${world.url}/-/install.sh`)).status).toBe(200)
  const second = agent('web-7', /TOKEN=(\S+)/.exec(line!)![1])
  await page.getByText('web-7 is connected').waitFor()
  await page.getByRole('link', { name: 'Open web-7' }).click()
  await page.getByRole('heading', { level: 1, name: 'web-7' }).waitFor()
  await page.getByText('Online').first().waitFor()
  await waitForEnd(second)
  await page
    .getByText(/^(Offline|Not reporting)/)
    .first()
    .waitFor()
  await page.getByText(/The agent has not reported since/).waitFor()
  agent('web-7')
  await page.getByText('Online').first().waitFor()
})

test('a replaced machine becomes the same host again with a token for that host', async () => {
  const hosts = () => world.api<{ id: string; hostname: string }[]>('GET', '/host')
  const before = (await hosts()).find((host) => host.hostname === 'web-7')!
  await waitForEnd(agents.at(-1)!)
  const page = await world.page(`/hosts/${before.id}`)
  await page.getByText(/The agent has not reported since/).waitFor()
  await page.getByRole('button', { name: 'Actions for web-7' }).click()
  await page.getByRole('menuitem', { name: 'Create token for this host' }).click()
  const dialog = page.getByRole('dialog', { name: 'web-7: Create token for this host' })
  await dialog.getByText('A token for new hosts cannot do this.').waitFor()
  await dialog.getByRole('button', { name: 'Create token' }).click()
  const line = await dialog.locator('.copy-field code', { hasText: 'TOKEN=' }).first().innerText()
  agent('web-7', /TOKEN=(\S+)/.exec(line)![1], 'new-machine')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByText('Online').first().waitFor()
  const named = (await hosts()).filter((host) => host.hostname === 'web-7')
  expect(named.map((host) => host.id)).toEqual([before.id])
})

test('a server that other machines cannot reach says how to restart it', async () => {
  const page = await world.page('/hosts/add')
  await page.getByText('Other machines cannot reach this server').waitFor()
  const start = page.locator('.copy-field code', { hasText: 'belvedere up' }).first()
  const port = new URL(world.url).port
  expect(await start.innerText()).toMatch(
    new RegExp(`^belvedere up --host (0\\.0\\.0\\.0|::) --url http://\\S+:${port}$`),
  )
  // Each address is offered once.
  const address = page.getByRole('combobox', { name: 'Address of this server' })
  if (await address.count()) {
    await address.click()
    const last = page.getByRole('option').last()
    const url = (await last.innerText()).trim()
    await last.click()
    await expect.poll(() => start.innerText()).toContain(url)
  }
  expect(await page.locator('.copy-field').count()).toBe(2)
  // On a phone the notice stays inside its card, and nothing of the command is cut.
  await page.setViewportSize({ width: 390, height: 844 })
  const card = (await page.locator('.host-steps').boundingBox())!
  const copy = page.getByRole('button', { name: 'Copy' }).first()
  const box = (await copy.boundingBox())!
  expect(box.x + box.width).toBeLessThanOrEqual(card.x + card.width)
  expect(await start.evaluate((code) => code.scrollWidth <= code.clientWidth)).toBe(true)
})

test('the token for a connected host comes with the advice to stop its agent first', async () => {
  const { id, hostname } = await world.host()
  const page = await world.page(`/hosts/${id}`)
  await page.getByRole('button', { name: `Actions for ${hostname}` }).click()
  await page.getByRole('menuitem', { name: 'Create token for this host' }).click()
  await page.getByText(`An agent is connected as ${hostname}.`).waitFor()
  await page.getByRole('button', { name: 'Create token' }).click()
  const line = await page.locator('.copy-field code', { hasText: 'TOKEN=' }).first().innerText()
  // Running the command anyway prints the same advice, and the connected agent keeps its host.
  const answer = await fetch(`${world.url}/-/enrol`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      token: /TOKEN=(\S+)/.exec(line)![1],
      hostname,
      fingerprint: 'the same machine',
    }),
  })
  const refusal = (await answer.json()) as { code: string; message: string }
  expect([answer.status, refusal.code]).toEqual([409, 'host_held'])
  expect(refusal.message).toContain(`--hostname ${hostname}-2`)
  expect((await world.host()).state).toBe('online')
})

test('a host is renamed, tagged, drained, disabled and deleted', async () => {
  const page = await world.page('/hosts')
  const act = async (name: string, item: string | RegExp) => {
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await act('web-7', 'Rename')
  await page.getByLabel('Name of the host').fill('web-8')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('link', { name: 'web-8' }).waitFor()
  await act('web-8', 'Tags')
  await page.getByRole('combobox', { name: 'Tags' }).fill('edge')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('[data-host="web-8"]').getByText('edge').waitFor()
  await act('web-8', /^Drain/)
  await page.locator('[data-host="web-8"]', { hasText: 'Draining' }).waitFor()
  await act('web-8', /^Disable/)
  await page.locator('[data-host="web-8"]', { hasText: 'Disabled' }).waitFor()
  await act('web-8', 'Delete')
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel('Type web-8 to confirm').fill('web-8')
  await confirm.click()
  await page.getByRole('link', { name: 'web-8' }).waitFor({ state: 'detached' })
})

test('a command runs on the chosen host as a job', async () => {
  const host = await world.host()
  const page = await world.page(`/hosts/${host.id}`)
  await page.getByRole('button', { name: 'Run a command' }).click()
  await page.getByRole('textbox', { name: 'Command' }).fill('echo "hello  from" here')
  await page.keyboard.press('Control+Enter')
  await page.getByText('1 job started').waitFor()
  // The output is shown in the dialog.
  await page.getByRole('dialog').getByText('hello  from here').waitFor()
  const link = await page.getByRole('dialog').getByRole('link').getAttribute('href')
  const id = /[0-9a-f]{24}/.exec(link!)![0]
  const job = await until(async () => {
    const job = await world.api('GET', `/job/${id}`)
    return job.lifecycle === 'finished' && job
  }, 'the job')
  expect(job.state).toBe('normal')
  const log = await fetch(`${world.url}/job/${id}/log`, {
    headers: { authorization: `Bearer ${await token()}` },
  })
  expect(await log.text()).toContain('hello  from here')
})

test('hosts are filtered, sorted, shown as a grid, and get a command by selection', async () => {
  const { hostname } = await world.host()
  const enrolment = await world.api('POST', '/api/enrolment', {})
  const second = agent('db-1', enrolment.token)
  const page = await world.page('/hosts')
  await page.locator('[data-host="db-1"]', { hasText: 'Online' }).waitFor()
  await page.getByRole('checkbox', { name: `Select ${hostname}` }).check()
  await page.getByRole('checkbox', { name: 'Select db-1' }).check()
  await pictures(page, 'hosts')
  await page.getByRole('button', { name: 'Run a command on 2 hosts' }).click()
  await page.getByRole('textbox', { name: 'Command' }).fill('echo both')
  await page.keyboard.press('Control+Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('2 jobs started').waitFor()
  await picture(page, 'hosts-command-started')
  for (const name of ['db-1', hostname]) await dialog.getByText(`${name} · Succeeded`).waitFor()
  await dialog.getByRole('button', { name: `Show output of ${hostname}` }).waitFor()
  await dialog.getByText('both', { exact: true }).waitFor()
  await picture(page, 'hosts-command')
  await page.keyboard.press('Escape')
  await page.getByText('Grid', { exact: true }).click()
  await page.locator('.host-cell[data-look="ok"]', { hasText: 'db-1' }).waitFor()
  await page.getByRole('combobox', { name: 'Colour by' }).click()
  await page.getByRole('option', { name: 'CPU' }).click()
  await page.locator('.host-cell[data-level]', { hasText: hostname }).getByText('%').waitFor()
  await pictures(page, 'hosts-grid')
  await page.getByRole('combobox', { name: 'Sort by' }).click()
  await page.getByRole('option', { name: 'Name' }).click()
  await expect
    .poll(() => page.locator('.host-cell .host-link').allInnerTexts())
    .toEqual(['db-1', hostname].toSorted())
  await waitForEnd(second)
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'With problems' }).click()
  await expect.poll(() => page.locator('.host-cell .host-link').allInnerTexts()).toEqual(['db-1'])
  expect(new URL(page.url()).search).toContain('state=problems')
})

async function token(): Promise<string> {
  const credential = await world.api('POST', '/api/token', { name: 'browser test' })
  return credential.token
}

test('the grid of a chart is faint in both themes, also after a change of the theme', async () => {
  const page = await world.page(`/hosts/${(await world.host()).id}`)
  await page.locator('.uplot canvas').waitFor()
  for (const colorScheme of ['dark', 'light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expect.poll(() => page.evaluate(hasFaintGrid)).toBe(true)
  }
})

/** Whether the lines that cross a column of the chart have the colour of the theme's borders. */
function hasFaintGrid(): boolean {
  const canvas = document.querySelector<HTMLCanvasElement>('.uplot canvas')
  if (!canvas) return false
  const column = Math.round(canvas.width * 0.4) + 3
  const { data } = canvas.getContext('2d')!.getImageData(column, 0, 1, canvas.height)
  const line = getComputedStyle(document.documentElement).getPropertyValue('--line').trim()
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(line.slice(at, at + 2), 16))
  const rows = Array.from({ length: canvas.height }, (_, row) => data.slice(row * 4, row * 4 + 4))
  return rows.some(([r, g, b, a]) => r === red && g === green && b === blue && a === 255)
}

test('a viewer sees hosts and cannot change them', async () => {
  const page = await world.page('/hosts', { as: await world.member('viewer') })
  const { hostname } = await world.host()
  await page.getByRole('link', { name: hostname }).waitFor()
  expect(await page.getByRole('button', { name: /Actions for/ }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Add a host' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Run a command' }).count()).toBe(0)
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
