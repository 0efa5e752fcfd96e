import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const CHROMIUM = process.env.CHROMIUM ?? PLACES.find(existsSync)
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Long enough for a machine that is busy with other work. */
export const PATIENCE_MS = 45_000

export interface Look {
  width?: number
  height?: number
  scheme?: 'light' | 'dark'
  language?: 'en' | 'es'
  zone?: string
  reducedMotion?: 'reduce' | 'no-preference'
  /** A new window with an empty cache, closed after the test. */
  fresh?: boolean
}

interface Window {
  key: string
  context: BrowserContext
  page: Page
  /** It cannot be reset: it has an init script or another clock. */
  isChanged: boolean
}

let launch: Promise<Browser> | undefined
const idleWindows: Window[] = []

/** All files that run in this process share one browser. Playwright closes it when the process ends. */
export async function sharedBrowser(): Promise<Browser> {
  const browser = await launch?.catch(() => undefined)
  if (!browser?.isConnected()) {
    idleWindows.length = 0
    launch = chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  }
  return launch!
}

/**
 * A window without a session. An earlier test's window is used again if possible: its process has
 * the compiled console, so it opens a page at half the cost of a new window.
 */
export async function openWindow(browser: Browser, look: Look): Promise<Window> {
  const { width = 1440, height = 900, scheme = 'light', language = 'en' } = look
  const { zone = 'Europe/Berlin', reducedMotion = null, fresh = false } = look
  const key = `${language} ${zone}`
  const index = fresh ? -1 : idleWindows.findIndex((window) => window.key === key)
  const [window = await newWindow(browser, key, { locale: language, timezoneId: zone })] =
    index < 0 ? [] : idleWindows.splice(index, 1)
  window.isChanged ||= fresh
  await window.page.setViewportSize({ width, height })
  await window.page.emulateMedia({ colorScheme: scheme, reducedMotion, forcedColors: null })
  return window
}

async function newWindow(
  browser: Browser,
  key: string,
  options: { locale: string; timezoneId: string },
): Promise<Window> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const window = { key, context, page, isChanged: false }
  markChangeBy(window, page, 'addInitScript')
  markChangeBy(window, page.clock, 'install')
  return window
}

function markChangeBy<Name extends string>(
  window: Window,
  target: Record<Name, (...values: any[]) => unknown>,
  name: Name,
): void {
  const method = target[name]
  target[name] = (...values) => {
    window.isChanged = true
    return method.apply(target, values)
  }
}

/** Leaves nothing of a test in its window but the cache; a window where this fails is closed. */
export async function releaseWindow(window: Window, origin: string): Promise<void> {
  const { context, page, isChanged } = window
  try {
    if (isChanged || page.isClosed() || context.pages().length > 1)
      throw new Error('not for another test')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    // Out of the page, so that the pointer is over nothing when the next page is drawn.
    await page.mouse.move(-1, -1)
    // A page of the same origin: the renderer process, with the compiled console, is kept.
    await page.goto(`${origin}/-/ready`, { timeout: 5_000 })
    await page.evaluate(() => {
      localStorage.clear()
      sessionStorage.clear()
    })
    await context.clearCookies()
    await context.clearPermissions()
    idleWindows.push(window)
  } catch {
    await context.close()
  }
}

/** Those that a test opened itself and, because it failed, did not close. */
export async function closeOtherWindows(browser: Browser): Promise<void> {
  const ours = new Set(idleWindows.map(({ context }) => context))
  const others = browser.contexts().filter((context) => !ours.has(context))
  await Promise.all(others.map((context) => context.close()))
}
