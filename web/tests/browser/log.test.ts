import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ReverseProxy } from './reverseProxy'
import { CUSTOMER, OWNER } from './server'
import { forward, PATIENCE_MS, press, until, World } from './world'

let world: World
beforeAll(async () => {
  world = await World.start({ demo: false })
})
afterAll(() => world.stop())

/** A line of a script that waits until the test creates a file. */
const gate = (name: string) =>
  `until [ -e '${join(world.server.folder, name)}' ] || [ ! -d '${world.server.folder}' ]; do sleep 0.05; done`
const open = (name: string) => writeFileSync(join(world.server.folder, name), '')
const isThere = (name: string) => existsSync(join(world.server.folder, name))

async function run(name: string, source: string, more = {}): Promise<string> {
  const task = await world.script(name, `#!/bin/bash\n${source}`, more)
  return (await world.api('POST', `/task/${task.id}/job`, {})).id
}

async function storedLog(id: string): Promise<string> {
  const { access_token } = await (
    await fetch(`${world.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(OWNER),
    })
  ).json()
  const headers = { authorization: `Bearer ${access_token}` }
  return (await fetch(`${world.url}/job/${id}/log`, { headers })).text()
}

const rows = (page: Page) => page.locator('.log-row .log-text')
const row = (page: Page, text: string) => rows(page).filter({ hasText: text })
const complete = (page: Page) => page.locator('[data-mark="complete"]').waitFor()

/** All lines as the page copies them, with a selection from the first to the last line. */
async function copyText(page: Page): Promise<string> {
  const box = page.locator('.log-box')
  await box.evaluate((element) => element.scrollTo({ top: 0 }))
  await page.locator('.log-row[data-row="0"]').waitFor()
  await page.evaluate(() => {
    const first = document.querySelector('.log-row[data-row="0"] .log-text')!
    document.getSelection()!.setBaseAndExtent(first, 0, first, first.childNodes.length)
  })
  const last = Number(await box.getAttribute('data-rows')) - 1
  await box.evaluate((element) => element.scrollTo({ top: element.scrollHeight }))
  await page.locator(`.log-row[data-row="${last}"]`).waitFor()
  return page.evaluate((n) => {
    const end = document.querySelector(`.log-row[data-row="${n}"] .log-text`)!
    document.getSelection()!.extend(end, end.childNodes.length)
    const clipboardData = new DataTransfer()
    const event = new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true })
    document.querySelector('.log-box')!.dispatchEvent(event)
    return clipboardData.getData('text/plain')
  }, last)
}

test('a page opened during a run shows every line exactly once', async () => {
  const id = await run(
    'Mid-run',
    `seq -f 'early %g' 1 400; touch '${join(world.server.folder, 'early')}'; ${gate('go-on')}
for n in $(seq 1 200); do echo "late $n é€😀"; done`,
  )
  await until(async () => isThere('early'), 'the first part')
  const page = await world.page(`/jobs/${id}`)
  await row(page, 'early 400').waitFor()
  await page.locator('[data-mark="live"]').waitFor()
  open('go-on')
  await complete(page)
  await row(page, 'late 200').waitFor()
  expect(await copyText(page)).toBe((await storedLog(id)).replace(/\n$/, ''))
})

test('a lost connection neither drops nor repeats lines', async () => {
  const proxy = await ReverseProxy.start(world.url, {})
  const id = await run(
    'Broken lines',
    `seq -f 'one %g' 1 300; ${gate('two')}; seq -f 'two %g' 1 300; ${gate('three')}; seq -f 'three %g' 1 300`,
  )
  const context = await world.browser.newContext()
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.request.post(`${proxy.url}/api/auth/login`, { data: OWNER })
  await page.goto(`${proxy.url}/ui/${CUSTOMER}/jobs/${id}`)
  await row(page, 'one 300').waitFor()
  proxy.cut()
  open('two')
  await row(page, 'two 300').waitFor()
  proxy.cut()
  open('three')
  await complete(page)
  await row(page, 'three 300').waitFor()
  expect(await copyText(page)).toBe((await storedLog(id)).replace(/\n$/, ''))
  await context.close()
  await proxy.stop()
})

test('colours are shown, and everything else that a script writes is only text', async () => {
  const id = await run(
    'Wild output',
    String.raw`printf 'a \033[1;31mred\033[0m word\n'
printf '<script>window.hacked = 1</script><img src=x onerror="window.hacked=1">\n'
printf 'clear\033[2J\033[H\033]0;title\007 nothing\n'
printf '10%%\r50%%\r100%%\n'
printf 'nul \0 bad \xff\xfe end\n'
printf '\033[32mgreen starts\nand goes on\033[0m\n'`,
  )
  const page = await world.page(`/jobs/${id}`)
  await complete(page)
  const red = page.locator('.log-row .fg-red', { hasText: 'red' })
  expect(await red.evaluate((element) => getComputedStyle(element).fontWeight)).toBe('650')
  await row(page, '<script>window.hacked').waitFor()
  expect(await page.evaluate(() => (window as { hacked?: number }).hacked)).toBeUndefined()
  await row(page, 'clear nothing').waitFor()
  await expect.poll(() => row(page, '%').allInnerTexts()).toEqual(['100%'])
  await row(page, 'bad \ufffd\ufffd end').waitFor()
  const green = page.locator('.fg-green')
  await expect.poll(() => green.allInnerTexts()).toEqual(['green starts', 'and goes on'])
  expect(page.url()).toContain(id)
})

test('following stops when the reader scrolls up, and G resumes it', async () => {
  const id = await run(
    'Followed',
    `seq -f 'first %g' 1 500; ${gate('more')}; seq -f 'second %g' 1 500; ${gate('end')}`,
  )
  const page = await world.page(`/jobs/${id}`)
  await row(page, 'first 500').waitFor()
  const follow = page.getByRole('switch', { name: 'Follow' })
  await expect.poll(() => follow.isChecked()).toBe(true)
  await page.locator('.log-box').hover()
  await page.mouse.wheel(0, -2000)
  await until(async () => !(await follow.isChecked()), 'following to stop')
  open('more')
  await page.getByRole('button', { name: /new lines/ }).waitFor()
  expect(await row(page, 'second 500').count()).toBe(0)
  await press(page, 'Shift+G')
  await row(page, 'second 500').waitFor()
  await expect.poll(() => follow.isChecked()).toBe(true)
  open('end')
  await complete(page)
})

test('a search covers the whole log, counts exactly, and steps through the matches', async () => {
  const id = await run('Searched', `seq -f 'entry %g.' 1 5000`)
  const page = await world.page(`/jobs/${id}`)
  await complete(page)
  await press(page, 'f')
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('ENTRY 49')
  await page.getByText('1 of 111').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('2 of 111').waitFor()
  await page.locator('.log-row[data-current]', { hasText: 'entry 490.' }).waitFor()
  expect(await page.locator('.log-row[data-current] .is-found').innerText()).toBe('entry 49')
  await page.locator('.log-box').focus()
  await press(page, 'Shift+N')
  await page.getByText('1 of 111').waitFor()
})

test('more matches than the server returns at once are stepped through to the last one', async () => {
  const id = await run('Found often', `seq -f 'entry %g.' 1 2500`)
  const search = async (line: number) => {
    const page = await world.page(`/jobs/${id}#L${line}`)
    await complete(page)
    await page.locator('.log-row[data-chosen]', { hasText: `entry ${line}.` }).waitFor()
    await press(page, 'f')
    // Filled at once: each typed letter would be a search of its own, with its own first match.
    await page.locator('input:focus').fill('entry')
    return page
  }
  const at = (page: Page, n: number) =>
    page.getByText(`${n.toLocaleString('en')} of 2,500`, { exact: true }).waitFor()
  const currentEntry = (page: Page, n: number) =>
    page.locator('.log-row[data-current]', { hasText: `entry ${n}.` }).waitFor()

  const page = await search(1000)
  const position = await page.getByText(/^[\d,]+ of 2,500$/).innerText()
  const first = Number(position.replace(',', '').split(' ')[0])
  expect(first).toBeGreaterThan(900)
  expect(first).toBeLessThan(1001)
  for (let n = first + 1; n <= 1003; n++) {
    await page.keyboard.press('Enter')
    await at(page, n)
  }
  await currentEntry(page, 1003)
  for (let n = 1002; n >= 999; n--) {
    await page.keyboard.press('Shift+Enter')
    await at(page, n)
  }
  await currentEntry(page, 999)

  // From the first match back to the last, and forward again.
  const top = await search(1)
  await at(top, 1)
  for (const n of [2500, 2499]) {
    await top.keyboard.press('Shift+Enter')
    await at(top, n)
    await currentEntry(top, n)
  }
  for (const n of [2500, 1]) {
    await top.keyboard.press('Enter')
    await at(top, n)
  }
})

test('an address can point at lines', async () => {
  const id = await run('Pointed at', `seq -f 'row %g.' 1 3000`)
  const page = await world.page(`/jobs/${id}#L500`)
  const chosen = page.locator('.log-row[data-chosen] .log-text')
  await chosen.filter({ hasText: 'row 500.' }).waitFor()
  const number = (n: number) => page.locator(`.log-no[data-n="${n}"]`)
  await number(502).click()
  await page.waitForURL(/#L502$/)
  await number(504).click({ modifiers: ['Shift'] })
  await page.waitForURL(/#L502-L504$/)
  await expect.poll(() => chosen.allInnerTexts()).toEqual(['row 502.', 'row 503.', 'row 504.'])
  // The address is changed by hand while another part of the log is visible.
  await page.goto(world.at(`/jobs/${id}#L2500`))
  await chosen.filter({ hasText: 'row 2500.' }).waitFor()
  await page.goto(world.at(`/jobs/${id}#L100`))
  await chosen.filter({ hasText: 'row 100.' }).waitFor()
})

test('copied text has no line numbers and no breaks where lines are wrapped', async () => {
  const long = 'word '.repeat(120).trim()
  const id = await run('Copied', `echo before; echo '${long}'; echo after`)
  const page = await world.page(`/jobs/${id}`)
  await complete(page)
  expect(await copyText(page)).toBe(`before\n${long}\nafter`)
  await page.locator('.log-box').focus()
  await press(page, 'w')
  await page.locator('.log-row[data-row="1"]').nth(1).waitFor()
  expect(await copyText(page)).toBe(`before\n${long}\nafter`)
})

test('timestamps are shown beside the lines on request, and are not copied', async () => {
  const id = await run(
    'Timed',
    `seq -f 'first %g' 1 2000; touch '${join(world.server.folder, 'timed-1')}'; ${gate('timed')}; seq -f 'second %g' 1 2000`,
  )
  const page = await world.page(`/jobs/${id}`)
  await row(page, 'first 2000').waitFor()
  const number = (n: number) => page.locator(`.log-no[data-n="${n}"]`)
  expect(await number(2000).getAttribute('data-t')).toBeNull()
  await press(page, 't')
  const shape = /^\d\d:\d\d:\d\d(\s[AP]M)?$/
  const stamp = (n: number) => number(n).getAttribute('data-t')
  await until(async () => shape.test((await stamp(2000)) ?? ''))
  open('timed')
  await complete(page)
  // Lines that arrive while timestamps are on have one, too.
  await until(async () => shape.test((await stamp(4000)) ?? ''))
  const text = await copyText(page)
  expect(text.trimEnd()).toBe((await storedLog(id)).trimEnd())
  await page.locator('.log-box').evaluate((element) => element.scrollTo({ top: 0 }))
  // The first line shows the day.
  await until(async () => /\d.* \d\d:\d\d:\d\d/.test((await stamp(1)) ?? ''))
  await page.reload()
  await page.locator('.log-no[data-t]').first().waitFor()
  await page.getByRole('button', { name: 'Timestamps' }).click()
  await page.locator('.log-no[data-n]:not([data-t])').first().waitFor()
})

test('a line of a megabyte is cut on the screen, with a button for all of it', async () => {
  const id = await run('Long line', `head -c 1000000 /dev/zero | tr '\\0' x; echo; echo after`)
  const page = await world.page(`/jobs/${id}`)
  await row(page, 'after').waitFor()
  expect((await rows(page).first().innerText()).length).toBeLessThan(10_000)
  await page.getByRole('button', { name: 'Show all 1,000,000 characters' }).click()
  const fullLine = page.getByRole('dialog').locator('pre')
  await until(async () => (await fullLine.innerText()).length === 1_000_000, 'the whole line')
})

test('the raw log is what the script wrote', async () => {
  // Long enough to be stored as bytes; short logs are stored as text.
  const id = await run('Raw', String.raw`seq 1 5000; printf 'a\0b\xff\r\n'`)
  const page = await world.page(`/jobs/${id}`)
  await complete(page)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Raw' }).click(),
  ])
  const parts: Buffer[] = []
  for await (const part of await download.createReadStream()) parts.push(part as Buffer)
  expect(Buffer.concat(parts).subarray(-6)).toEqual(Buffer.from([97, 0, 98, 255, 13, 10]))
})

test('behind a proxy that buffers streams, a running log still grows', async () => {
  const proxy = await ReverseProxy.start(world.url, { buffers: true })
  const id = await run(
    'Held back',
    `seq -f 'held %g' 1 100; ${gate('held')}; seq -f 'free %g' 1 100`,
  )
  const context = await world.browser.newContext()
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  await page.request.post(`${proxy.url}/api/auth/login`, { data: OWNER })
  await page.clock.install()
  await page.goto(`${proxy.url}/ui/${CUSTOMER}/jobs/${id}`)
  // The page detects a buffered stream only after a timeout.
  await forward(page, row(page, 'held 100'))
  open('held')
  await forward(page, row(page, 'free 100'))
  await forward(page, page.locator('[data-mark="complete"]'))
  expect(await copyText(page)).toBe((await storedLog(id)).replace(/\n$/, ''))
  await context.close()
  await proxy.stop()
})

test('a log of a hundred thousand lines scrolls to its end', async () => {
  const id = await run('Big', `seq -f 'line %g of many' 1 100000`)
  const page = await world.page(`/jobs/${id}`)
  await complete(page)
  await page.getByText('100,000 lines').waitFor()
  await page.locator('.log-box').focus()
  await press(page, 'End')
  await row(page, 'line 100000 of many').waitFor()
  expect(await page.locator('.log-row').count()).toBeLessThan(150)
})

test('no page logged an error or called another host', () => {
  expect(world.pageErrors).toEqual([])
})
