import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { REPOSITORY } from './server'

export interface Account {
  sub: string
  email: string
  email_verified?: boolean
  name?: string
}

/** The small real OpenID provider of the server's own tests, as a process. */
export class Provider {
  readonly secret = 's3cret of the client'
  issuer = ''
  private readonly answers: AsyncIterator<string>

  private constructor(private readonly child: ChildProcess) {
    this.answers = createInterface(child.stdout!)[Symbol.asyncIterator]()
  }

  static async start(first: Account): Promise<Provider> {
    const python = join(REPOSITORY, '.venv/bin/python')
    const child = spawn(python, ['-m', 'providers.openid_server'], {
      env: { PATH: process.env.PATH, PYTHONPATH: join(REPOSITORY, 'tests') },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const provider = new Provider(child)
    // It prints its address after the first account.
    provider.issuer = await provider.setAccount(first)
    return provider
  }

  /** The account that signs in next. */
  async setAccount(account: Account): Promise<string> {
    this.child.stdin!.write(`${JSON.stringify({ email_verified: true, ...account })}\n`)
    return (await this.answers.next()).value
  }

  async stop(): Promise<void> {
    const gone = new Promise((done) => this.child.once('exit', done))
    this.child.stdin!.end()
    await gone
  }
}
