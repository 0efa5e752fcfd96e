// @vitest-environment happy-dom
import { expect, test, vi } from 'vitest'
import { logOf } from '../../../../../tests/unit/log'
import { answer, requestsTo } from '../../../../../tests/unit/server'
import { loadEarlier, terminalLine } from '../loadEarlier'
import { pollLog } from '../pollLog'

const lineNames = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => `line ${first + index}`)

test('dropped rows are requested with their numbers, also when the server returns fewer', async () => {
  const fetch = vi.fn(async (first: number, count: number) => ({
    first,
    lines: lineNames(first, Math.min(count, 2)),
  }))
  const rows = await loadEarlier(logOf(), fetch, { first: 10, count: 5, carry: '' })
  expect(rows).toEqual(lineNames(11, 5))
  expect(fetch.mock.calls).toEqual([
    [11, 5],
    [13, 3],
    [15, 1],
  ])
})

test('a gap stays an empty row, and the lines behind it follow', async () => {
  const store = logOf('one\ntwo\n')
  store.cut({ from: 8, to: 900, line: 40 })
  store.append('forty-one\n')
  const fetch = vi.fn(async (first: number, count: number) => ({
    first,
    lines: lineNames(first, count),
  }))
  const rows = await loadEarlier(store, fetch, { first: 0, count: 4, carry: '' })
  expect(rows).toEqual(['line 1', 'line 2', '', 'line 41'])
})

test('lines that are not stored any more are empty, not an endless loop', async () => {
  const fetch = async (first: number) => ({ first, lines: [] })
  const rows = await loadEarlier(logOf(), fetch, { first: 0, count: 3, carry: '' })
  expect(rows).toEqual(['', '', ''])
})

test('colours that were open before the rows stay open until they are reset', async () => {
  const lines = ['still red', 'end\x1b[0m', 'plain']
  const fetch = async (first: number) => ({ first, lines })
  const rows = await loadEarlier(logOf(), fetch, { first: 0, count: 3, carry: '\x1b[31m' })
  expect(rows).toEqual(['\x1b[31mstill red', '\x1b[31mend\x1b[0m', 'plain'])
})

test('a progress line ends as a terminal leaves it', () => {
  expect(terminalLine('10%\r50%\r100%')).toBe('100%')
  expect(terminalLine('done\r\r')).toBe('done')
  expect(terminalLine('plain')).toBe('plain')
})

test('polling appends whole characters and continues at the byte behind them', async () => {
  const store = logOf()
  const body = new TextEncoder().encode('añ').slice(0, 2)
  answer('GET /job/7/log', () => {
    return new Response(body, { status: 206, headers: { 'content-range': 'bytes 10-11/90' } })
  })
  await expect(pollLog('7', undefined, '3/10', store)).resolves.toBe('3/11')
  expect(store.text(0)).toBe('a')
  const [request] = requestsTo('GET /job/7/log')
  expect(request!.headers.get('range')).toBe('bytes=10-')
  expect(request!.query).toEqual({ attempt: '3' })
})

test('polling without new bytes keeps its place, and a refusal has none', async () => {
  answer('GET /job/7/log', () => new Response('', { status: 416 }))
  await expect(pollLog('7', undefined, '8', logOf())).resolves.toBe('8')
  answer('GET /job/7/log', () => new Response('', { status: 500 }))
  await expect(pollLog('7', undefined, '8', logOf())).resolves.toBeNull()
})
