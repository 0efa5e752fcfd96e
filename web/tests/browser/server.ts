import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const REPOSITORY = new URL('../../../', import.meta.url).pathname
export const PROGRAM = process.env.BELVEDERE_BIN ?? join(REPOSITORY, '.venv/bin/belvedere')

export const OWNER = { email: 'ada@example.org', password: 'correct horse battery staple' }
export const CUSTOMER = 'acme'

export interface Options {
  /** false: an empty organization. */
  demo?: boolean
  agent?: boolean
  env?: Record<string, string>
  /** Without an owner the server shows its setup page. */
  unclaimed?: boolean
}

/** One real server with its own data folder, and everything it printed. */
export class Server {
  printed = ''
  private child: ChildProcess | undefined

  private constructor(
    readonly url: string,
    readonly folder: string,
    private readonly options: Options,
    private readonly port: number,
  ) {}

  static async start(options: Options = {}): Promise<Server> {
    const port = await freePort()
    const folder = mkdtempSync(join(tmpdir(), 'belvedere-browser-'))
    const server = new Server(`http://127.0.0.1:${port}`, folder, options, port)
    await server.run()
    return server
  }

  /** Starts it (again, on the same data). */
  async run(): Promise<void> {
    const { demo = true, agent = true, env = {}, unclaimed = false } = this.options
    const words = unclaimed
      ? ['server']
      : ['up', ...(demo ? [] : ['--no-demo']), ...(agent ? [] : ['--no-agent'])]
    const owner = unclaimed
      ? {}
      : {
          BELVEDERE_CUSTOMER: CUSTOMER,
          BELVEDERE_ADMIN_EMAIL: OWNER.email,
          BELVEDERE_ADMIN_PASSWORD: OWNER.password,
        }
    const child = spawn(
      PROGRAM,
      [...words, '--data', join(this.folder, 'data'), '--port', String(this.port)],
      {
        env: { PATH: process.env.PATH, HOME: this.folder, LANG: 'C.UTF-8', ...owner, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.child = child
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => (this.printed += data))
    await this.ready()
  }

  private async ready(): Promise<void> {
    const until = Date.now() + 60_000
    while (Date.now() < until) {
      if (this.child?.exitCode !== null) throw new Error(`the server ended:\n${this.printed}`)
      const answer = await fetch(`${this.url}/-/ready`).catch(() => null)
      if (answer?.ok) return
      await new Promise((done) => setTimeout(done, 100))
    }
    throw new Error(`the server is not ready:\n${this.printed}`)
  }

  /** As a crash (KILL) or as a stop (TERM); the data are not deleted. */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await ended
  }

  async stop(): Promise<void> {
    await this.kill()
    // A script that is still running may write there once more.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

let lastPort = 0

/**
 * The same port for one file after the other: the browser that they share then has the console of
 * that address in its cache.
 */
async function freePort(): Promise<number> {
  while (!(lastPort && (await isFree(lastPort)))) lastPort = randomPort()
  return lastPort
}

/** Below the ports that the system assigns to connections, so that none of them takes it. */
const randomPort = () => 12_000 + Math.floor(Math.random() * 15_000)

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const hasPort = await new Promise<boolean>((done) => {
    probe.once('error', () => done(false))
    probe.listen(port, '127.0.0.1', () => done(true))
  })
  if (hasPort) await new Promise((done) => probe.close(done))
  return hasPort
}
