import { join } from 'node:path'
import type { Browser, ConsoleMessage, Locator, Page, Request, Route } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { CUSTOMER, type Options, OWNER, Server } from './server'
import {
  closeOtherWindows,
  type Look,
  openWindow,
  PATIENCE_MS,
  releaseWindow,
  sharedBrowser,
} from './windows'

export { PATIENCE_MS } from './windows'

const SCRIPT_DELAY_MS = Number(process.env.SCRIPT_DELAY_MS ?? 0)

export interface Person {
  email: string
  password: string
}

/**
 * A server, a browser, and people who sign in. `const world = await World.start()` in beforeAll,
 * `world.stop()` in afterAll; each test opens its own pages, which are closed after it.
 */
export class World {
  private readonly tokens = new Map<string, string>()
  /** Errors of pages: a request to another host, a violation of the policy, a logged error. */
  readonly pageErrors: string[] = []

  private constructor(
    readonly server: Server,
    readonly browser: Browser,
  ) {}

  static async start(options: Options = {}): Promise<World> {
    const server = await Server.start(options)
    try {
      const browser = await sharedBrowser()
      const world = new World(server, browser)
      const { demo = true, agent = true, unclaimed = false } = options
      if (demo && agent && !unclaimed) await world.demo()
      return world
    } catch (fault) {
      await server.stop()
      throw fault
    }
  }

  /** It is created when the local agent has connected. */
  private async demo(): Promise<void> {
    await until(async () => (await this.api<unknown[]>('GET', '/workflows')).length > 0, 'the demo')
  }

  async stop(): Promise<void> {
    await closeOtherWindows(this.browser)
    await this.server.stop()
  }

  get url(): string {
    return this.server.url
  }

  /** The address of a page: `world.at('/jobs')`. */
  at(path: string): string {
    return `${this.url}/ui/${CUSTOMER}${path === '/' ? '' : path}`
  }

  /** A separate browser window without a session. */
  async anonymousPage(look: Look = {}): Promise<Page> {
    const window = await openWindow(this.browser, look)
    const { page } = window
    const stopWatching = this.watch(page)
    // An open page would keep drawing and listening during all following tests.
    onTestFinished(async ({ task }) => {
      stopWatching()
      // A test that timed out may still use its window.
      if (task.result?.state === 'pass') await releaseWindow(window, this.url)
      else await window.context.close()
    })
    if (SCRIPT_DELAY_MS) await page.route('**/assets/*.js', continueLater)
    return page
  }

  /** A signed-in page of the organization. */
  async page(path = '/', { as = OWNER, ...look }: Look & { as?: Person } = {}): Promise<Page> {
    const page = await this.anonymousPage(look)
    const answer = await page.request.post(`${this.url}/api/auth/login`, { data: as })
    if (!answer.ok()) throw new Error(`sign-in failed: ${answer.status()} ${await answer.text()}`)
    await page.goto(this.at(path))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await idle(page)
    return page
  }

  /** Notes the errors of a page; the result ends that. */
  private watch(page: Page): () => void {
    const onError = (fault: Error) => this.pageErrors.push(`error: ${fault.message}`)
    const onMessage = (message: ConsoleMessage) => {
      const text = message.text()
      // The browser itself reports refusals (401, 404) that pages expect and show.
      if (message.type() === 'error' && !text.includes('Failed to load resource'))
        this.pageErrors.push(`console: ${text}`)
    }
    const onRequest = (request: Request) => {
      const url = request.url()
      if (!url.startsWith(this.url) && !url.startsWith('data:') && !url.startsWith('blob:'))
        this.pageErrors.push(`request to another host: ${url}`)
    }
    page.on('pageerror', onError).on('console', onMessage).on('request', onRequest)
    return () => page.off('pageerror', onError).off('console', onMessage).off('request', onRequest)
  }

  /** An API call, as the owner or as another person. */
  async api<T = any>(method: string, path: string, body?: unknown, as: Person = OWNER): Promise<T> {
    const answer = await this.request(method, path, body, as)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text ? JSON.parse(text) : undefined) as T
  }

  /** The same for any status. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    as: Person = OWNER,
  ): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${await this.token(as)}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
  }

  private async token(as: Person): Promise<string> {
    const token = this.tokens.get(as.email)
    if (token) return token
    const answer = await fetch(`${this.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(as),
    })
    const { access_token } = (await answer.json()) as { access_token: string }
    this.tokens.set(as.email, access_token)
    return access_token
  }

  /** A member of a level, invited and accepted. */
  async member(level: string, email = `${level}@example.org`): Promise<Person & { id: string }> {
    const password = `a long password of ${level}`
    const member = await this.api('POST', '/api/member', {
      user: { email, name: level },
      credential: level,
    })
    await fetch(`${this.url}/api/auth/invitation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: member.invitation.token, password }),
    })
    return { email, password, id: member.id }
  }

  /** The only host: the local agent's. */
  async host(): Promise<{ id: string; hostname: string; state: string }> {
    const [first] = await this.api<{ id: string; hostname: string; state: string }[]>(
      'GET',
      '/host',
    )
    if (!first) throw new Error('there is no host')
    return first
  }

  /** A script task on the local host. */
  async script(
    name: string,
    source: string,
    more: Record<string, unknown> = {},
  ): Promise<{ id: string; name: string }> {
    const file = await this.api('POST', '/file', {
      filename: `${name.replace(/\W+/g, '-')}.sh`,
      source,
    })
    const host = await this.host()
    return this.api('POST', '/task', {
      name,
      type: 'script',
      host_id: host.id,
      script_id: file.id,
      script_runas: '/bin/bash %script%',
      ...more,
    })
  }
}

/** Loads every script late, so that a test that acts on the previous page fails reliably. */
async function continueLater(route: Route): Promise<void> {
  await new Promise((done) => setTimeout(done, SCRIPT_DELAY_MS))
  await route.continue()
}

/** Opens another page of the console as its links do: the console is not loaded again. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((url) => history.pushState({}, '', url), address)
  // The router is pending from now on, until the new page is drawn.
  await page.waitForFunction(() => (window as any).__TSR_ROUTER__.state.status === 'idle')
}

/** Waits until the page is idle: then its controls handle events. */
export async function idle(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestIdleCallback(() => done(null), { timeout: 10_000 })),
  )
}

/** The page handles keys only a moment after it is drawn. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  await idle(page)
  for (const key of keys) await page.keyboard.press(key)
}

/** Waits until a condition is true. */
export async function until<T>(
  look: () => Promise<T | null | undefined | false>,
  description = 'it',
): Promise<T> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const result = await look()
    if (result) return result
    if (Date.now() > end) throw new Error(`${description} did not happen`)
    await new Promise((done) => setTimeout(done, 50))
  }
}

/**
 * Moves the clock of a page until an element appears: for what the page does after a timeout.
 * `page.clock.install()` comes before the page is opened.
 */
export async function forward(page: Page, element: Locator): Promise<void> {
  await until(async () => {
    await page.clock.fastForward(1_000)
    return element.isVisible()
  }, 'the element')
}

/** With SCREENS=<folder>, stores a screenshot of the page there. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENS
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) })
}

/** The same in three widths and both themes; free of cost if no screenshots are requested. */
export async function pictures(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENS) return
  const before = page.viewportSize()!
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [390, 820, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await page.waitForTimeout(400)
      await picture(page, `${name}-${width}-${colorScheme}`)
    }
  }
  await page.setViewportSize(before)
}
