import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

interface Manner {
  /** What it takes away from the front of every path. */
  prefix?: string
  /** Passes an answer on only when it is whole, as some proxies do. */
  buffers?: boolean
}

/** A reverse proxy before the server, with the habits of one that a company has. */
export class Front {
  private constructor(
    private readonly server: Server,
    readonly prefix: string,
  ) {}

  static async start(target: string, { prefix = '', buffers = false }: Manner): Promise<Front> {
    const server = createServer((asked, answer) => pass(target, prefix, buffers, asked, answer))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return new Front(server, prefix)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.prefix}`
  }

  /** Breaks every connection, as a network does; new ones are taken. */
  cut(): void {
    this.server.closeAllConnections()
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((done) => this.server.close(done))
  }
}

function pass(
  target: string,
  prefix: string,
  buffers: boolean,
  asked: IncomingMessage,
  answer: ServerResponse,
): void {
  const path = asked.url ?? '/'
  if (!path.startsWith(`${prefix}/`)) {
    answer.writeHead(404).end('Not of Belvedere.')
    return
  }
  const { method, headers } = asked
  const inner = request(target + path.slice(prefix.length), { method, headers }, (given) => {
    if (!buffers) {
      answer.writeHead(given.statusCode!, given.headers)
      given.pipe(answer)
      return
    }
    const parts: Buffer[] = []
    given.on('data', (part: Buffer) => parts.push(part))
    given.on('end', () =>
      answer.writeHead(given.statusCode!, given.headers).end(Buffer.concat(parts)),
    )
  })
  // Whoever hangs up on one side is told to the other.
  inner.on('error', () => answer.destroy())
  answer.on('close', () => inner.destroy())
  asked.pipe(inner)
}
