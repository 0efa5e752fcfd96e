import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'

interface Manner {
  /** The prefix that it removes from every path. */
  prefix?: string
  /** Forwards a response only when it is complete, as some proxies do. */
  buffers?: boolean
}

/** A reverse proxy in front of the server that behaves like one in a company network. */
export class ReverseProxy {
  private constructor(
    private readonly server: Server,
    readonly prefix: string,
  ) {}

  static async start(
    target: string,
    { prefix = '', buffers = false }: Manner,
  ): Promise<ReverseProxy> {
    const server = createServer((incoming, answer) =>
      pass(target, prefix, buffers, incoming, answer),
    )
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return new ReverseProxy(server, prefix)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${this.prefix}`
  }

  /** Closes every connection, as a network failure does; new ones are accepted. */
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
  incoming: IncomingMessage,
  answer: ServerResponse,
): void {
  const path = incoming.url ?? '/'
  if (!path.startsWith(`${prefix}/`)) {
    answer.writeHead(404).end('Not of Belvedere.')
    return
  }
  const { method, headers } = incoming
  const inner = request(target + path.slice(prefix.length), { method, headers }, (inner) => {
    if (!buffers) {
      answer.writeHead(inner.statusCode!, inner.headers)
      inner.pipe(answer)
      return
    }
    const parts: Buffer[] = []
    inner.on('data', (part: Buffer) => parts.push(part))
    inner.on('end', () =>
      answer.writeHead(inner.statusCode!, inner.headers).end(Buffer.concat(parts)),
    )
  })
  // A connection that is closed on one side is closed on the other.
  inner.on('error', () => answer.destroy())
  answer.on('close', () => inner.destroy())
  incoming.pipe(inner)
}
