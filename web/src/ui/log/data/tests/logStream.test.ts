// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventText, eventually, logOf, rowsOf } from '../../../../../tests/unit/log'
import { answer, type ReceivedRequest, requestsTo } from '../../../../../tests/unit/server'
import { fetchLines, LogStream } from '../logStream'

const END = { bytes: 8, kept: 8, complete: true, sha256: '' }
const LOG = 'GET /job/7/log'

let stream: LogStream | undefined

beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true }))
afterEach(() => {
  stream?.stop()
  vi.useRealTimers()
})

function open(attempt?: number) {
  const store = logOf()
  stream = new LogStream('7', attempt, store)
  stream.start()
  return { store, stream }
}

const events = (...parts: string[]) => new Response(parts.join(''))

/** A different answer for each connection; the last one repeats. */
function answerInTurn(...answers: ((request: ReceivedRequest) => unknown)[]) {
  answer(LOG, (request: ReceivedRequest) => {
    const index = Math.min(requestsTo(LOG).length, answers.length) - 1
    return answers[index]!(request)
  })
}

test('output arrives in the store, and the end of the log ends the stream', async () => {
  answer(
    LOG,
    events(
      eventText('output', 'one\ntw', '1/6'),
      eventText('output', 'o\n', '1/8'),
      eventText('end', END),
    ),
  )
  const { store } = open()
  await eventually(() => expect(store.status).toBe('ended'))
  expect(rowsOf(store)).toEqual(['one', 'two'])
  expect(store.ending).toEqual(END)
  expect(requestsTo(LOG)).toHaveLength(1)
  expect(requestsTo(LOG)[0]!.query).toEqual({ follow: 'true' })
})

test('an attempt is part of the request', async () => {
  answer(LOG, events(eventText('end', END)))
  const { store } = open(2)
  await eventually(() => expect(store.status).toBe('ended'))
  expect(requestsTo(LOG)[0]!.query).toEqual({ follow: 'true', attempt: '2' })
})

test('after a lost connection the stream resumes behind the last event', async () => {
  answerInTurn(
    () => events(eventText('output', 'one\n', '1/4')),
    () => events(eventText('output', 'two\n', '1/8'), eventText('end', END)),
  )
  const { store } = open()
  await eventually(() => expect(store.status).toBe('reconnecting'))
  await vi.advanceTimersByTimeAsync(600)
  await eventually(() => expect(store.status).toBe('ended'))
  expect(rowsOf(store)).toEqual(['one', 'two'])
  const [first, second] = requestsTo(LOG)
  expect(first!.headers.get('last-event-id')).toBeNull()
  expect(second!.headers.get('last-event-id')).toBe('1/4')
})

test('the wait between connections doubles while nothing arrives', async () => {
  answer(LOG, () => new Response('', { status: 503 }))
  open()
  const connections = () => requestsTo(LOG).filter(({ query }) => query.follow).length
  await eventually(() => expect(connections()).toBe(1))
  await vi.advanceTimersByTimeAsync(600)
  await eventually(() => expect(connections()).toBe(2))
  await vi.advanceTimersByTimeAsync(600)
  expect(connections()).toBe(2)
  await vi.advanceTimersByTimeAsync(600)
  await eventually(() => expect(connections()).toBe(3))
})

test('a refusal is final: there is no second request', async () => {
  answer(LOG, () => new Response('', { status: 403 }))
  const { store } = open()
  await eventually(() => expect(store.status).toBe('failed'))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(requestsTo(LOG)).toHaveLength(1)
})

test('missing output becomes a gap, and the lines after it have their numbers', async () => {
  answer(
    LOG,
    events(
      eventText('output', 'one\n', '1/4'),
      eventText('cut', { from: 4, to: 2_004, line: 40 }),
      eventText('output', '… 2000 bytes missing …', '1/2004'),
      eventText('output', 'last\n', '1/2009'),
      eventText('end', { ...END, bytes: 2_009, kept: 9 }),
    ),
  )
  const { store } = open()
  await eventually(() => expect(store.status).toBe('ended'))
  expect(store.gaps).toMatchObject([{ row: 1, from: 4, to: 2_004 }])
  expect(rowsOf(store)).toEqual(['one', '', 'last'])
  expect(store.lineOf(2)).toBe(41)
})

test('a new attempt replaces the output of the one before', async () => {
  answer(
    LOG,
    events(
      eventText('output', 'first attempt\n', '1/14'),
      eventText('attempt', { number: 2 }, '2/0'),
      eventText('output', 'second attempt\n', '2/15'),
      eventText('end', END),
    ),
  )
  const { store } = open()
  await eventually(() => expect(store.status).toBe('ended'))
  expect(rowsOf(store)).toEqual(['second attempt'])
  expect(store.attempt).toBe(2)
})

test('a job that changes after its end is read again', async () => {
  answerInTurn(
    () => events(eventText('output', 'one\n', '1/4'), eventText('end', END)),
    () => events(eventText('output', 'two\n', '1/8'), eventText('end', END)),
  )
  const { store, stream } = open()
  await eventually(() => expect(store.status).toBe('ended'))
  stream.again()
  await eventually(() => expect(rowsOf(store)).toEqual(['one', 'two']))
  stream.stop()
  stream.again()
  expect(requestsTo(LOG)).toHaveLength(2)
})

test('behind a proxy that buffers streams the log is polled', async () => {
  answer(LOG, ({ query, headers }: ReceivedRequest) => {
    if (query.follow) return new Response('', { status: 504 })
    const from = Number(/bytes=(\d+)-/.exec(headers.get('range') ?? '')![1])
    const rest = 'one\ntwo\n'.slice(from, from + 4)
    if (!rest) return new Response('', { status: 416 })
    const range = { 'content-range': `bytes ${from}-${from + rest.length - 1}/*` }
    return new Response(rest, { status: 206, headers: range })
  })
  const { store } = open()
  await eventually(() => expect(rowsOf(store)).toEqual(['one']))
  expect(store.status).toBe('live')
  await vi.advanceTimersByTimeAsync(3_100)
  await eventually(() => expect(rowsOf(store)).toEqual(['one', 'two']))
})

test('a page in the background gives its connection back, and resumes when it is visible', async () => {
  const openStream = () =>
    new Response(new ReadableStream({ start: (c) => c.enqueue(bytes('one\n', '1/4')) }))
  answerInTurn(openStream, () => events(eventText('output', 'two\n', '1/8'), eventText('end', END)))
  const { store } = open()
  await eventually(() => expect(store.status).toBe('live'))
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true)
  document.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(30_100)
  expect(store.status).toBe('paused')
  hidden.mockReturnValue(false)
  document.dispatchEvent(new Event('visibilitychange'))
  hidden.mockRestore()
  await vi.advanceTimersByTimeAsync(20_000)
  await eventually(() => expect(store.status).toBe('ended'))
  expect(rowsOf(store)).toEqual(['one', 'two'])
})
const bytes = (text: string, id: string) => new TextEncoder().encode(eventText('output', text, id))

test('lines that were dropped are requested by number', async () => {
  answer('GET /job/7/log/lines', { first: 11, lines: ['eleven'] })
  await expect(fetchLines('7', 3)(11, 50)).resolves.toEqual({ first: 11, lines: ['eleven'] })
  expect(requestsTo('GET /job/7/log/lines')[0]!.query).toEqual({
    from: '11',
    count: '50',
    attempt: '3',
  })
})
