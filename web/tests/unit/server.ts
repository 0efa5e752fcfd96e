import type { ObjectName } from '../../src/api/queries/names'

/** A server for component tests: answers that a test sets, and the requests that it received. */
export interface ReceivedRequest {
  method: string
  path: string
  query: Record<string, string>
  headers: Headers
  body: unknown
  /** The body as it was sent. */
  text: string
}

type Answer = unknown | ((request: ReceivedRequest) => unknown)

/** `answer('GET /task', [])`; a Response is sent as it is, anything else as JSON. */
export function answer(route: string, value: Answer): void {
  answers.set(route, value)
}

type Named = Pick<ObjectName, 'id' | 'name'> & Partial<ObjectName>

/** The names of the objects of a kind, for the fields of forms that offer them. */
export function answerNames(kind: string, objects: Named[]): void {
  names.set(kind, objects)
  answer('GET /-/names', ({ query }: ReceivedRequest) =>
    (names.get(query.kind ?? '') ?? []).map((object) => ({ ...NAMELESS, ...object })),
  )
}

/** A refusal in the form of the interface. */
export function refusal(status: number, message: string, errors: object[] = []): Response {
  return Response.json({ code: 'refused', message, errors }, { status })
}

/** The requests of a route so far, oldest first. */
export function requestsTo(route: string): ReceivedRequest[] {
  return requests.filter(({ method, path }) => `${method} ${path}` === route)
}

const NAMELESS = { detail: '', state: null, tags: [] }
const names = new Map<string, object[]>()
const answers = new Map<string, Answer>()
const requests: ReceivedRequest[] = []

export function resetServer(): void {
  answers.clear()
  names.clear()
  requests.length = 0
}

export const handleRequest: typeof fetch = async (input, init) => {
  const request = new Request(new URL(String(isRequest(input) ? input.url : input), BASE), {
    method: isRequest(input) ? input.method : init?.method,
    headers: isRequest(input) ? input.headers : init?.headers,
    body: isRequest(input) ? await bodyOf(input) : init?.body,
  })
  const { pathname, searchParams } = new URL(request.url)
  const text = await request.text()
  const received = {
    method: request.method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: parseBody(text),
    text,
  }
  requests.push(received)
  const route = `${received.method} ${pathname}`
  if (!answers.has(route))
    return Response.json({ code: 'unexpected', message: route }, { status: 404 })
  const value = answers.get(route)
  const result = typeof value === 'function' ? await value(received) : value
  const response = result instanceof Response ? result.clone() : Response.json(result ?? null)
  return abortable(response, init?.signal ?? (isRequest(input) ? input.signal : undefined))
}

/** A response whose body ends with an error when the caller aborts the request. */
function abortable(response: Response, signal: AbortSignal | null | undefined): Response {
  if (!signal || !response.body) return response
  const body = response.body.pipeThrough(new TransformStream(), { signal })
  return new Response(body, response)
}

const BASE = 'http://localhost:3000/'

function isRequest(input: unknown): input is Request {
  return typeof input === 'object' && input !== null && 'method' in input
}

async function bodyOf(request: Request): Promise<string | undefined> {
  return (await request.clone().text()) || undefined
}

function parseBody(text: string): unknown {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return text
  }
}
