// @vitest-environment happy-dom
import { QueryClient } from '@tanstack/react-query'
import { beforeEach, expect, test } from 'vitest'
import { answer, requestsTo, resetServer } from '../../../../tests/unit/server'
import { sinceNewest } from './changes'
import { type HostLine, hostsQuery, withChange } from './host'
import { type MonitorLine, monitorsQuery, withCheck } from './monitor'

const line = (id: string, more: Partial<MonitorLine> = {}) =>
  ({ id, version: 1, state: 'normal', metric: 'ms', spark: [], ...more }) as MonitorLine
const lines = (count: number) => Array.from({ length: count }, (_, n) => line(`n${n}`))
const LINES = 'GET /-/board/monitors'
const CHANGES = 'GET /-/board/monitors/changes'
const ORDER = 'GET /-/board/monitors/order'
const AT = '2026-01-01T00:01:00.000Z'

beforeEach(resetServer)

async function watch(rows: MonitorLine[]) {
  const client = new QueryClient()
  answer(LINES, rows)
  await client.fetchQuery(monitorsQuery({}))
  const again = async (isInvalidated = false) => {
    const { queryKey } = monitorsQuery({})
    if (isInvalidated) await client.invalidateQueries({ queryKey })
    return (await client.fetchQuery(monitorsQuery({}))).rows
  }
  return again
}

test('between events only the changes of checked rows are read', async () => {
  const again = await watch([line('a', { last_check: AT }), line('b')])
  answer(CHANGES, [{ id: 'b', version: 1, state: 'normal', beats: 'nn', value: 3 }])
  const rows = await again()
  expect(rows.map(({ id, value }) => [id, value])).toEqual([
    ['a', undefined],
    ['b', 3],
  ])
  expect(requestsTo(CHANGES)[0]!.query).toMatchObject({ since: '2026-01-01T00:00:55.000Z' })
  expect(requestsTo(LINES)).toHaveLength(1)
})

test('after an event the rows are in their new order, and only new and edited ones are read', async () => {
  const again = await watch([line('a'), line('b'), line('c')])
  answer(CHANGES, [
    { id: 'c', version: 1, state: 'failure' },
    { id: 'a', version: 2, state: 'normal' },
    { id: 'd', version: 1, state: 'normal' },
  ])
  answer(LINES, [line('a', { name: 'edited', version: 2 }), line('d')])
  const rows = await again(true)
  expect(rows.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'c failure',
    'a normal',
    'd normal',
  ])
  expect(rows[1]!.name).toBe('edited')
  expect(requestsTo(CHANGES)[0]!.query).not.toHaveProperty('since')
  expect(JSON.stringify(requestsTo(LINES)[1]!.query)).toContain('where[id]')
})

test('many new rows are read as a page', async () => {
  const again = await watch([line('a')])
  const many = lines(51)
  answer(CHANGES, many)
  answer(LINES, many)
  expect(await again(true)).toHaveLength(51)
  expect(JSON.stringify(requestsTo(LINES)[1]!.query)).not.toContain('where[id]')
})

test('of a long page only the order, and the rows that changed, are read after an event', async () => {
  const again = await watch(lines(60))
  answer(ORDER, [{ id: 'n7' }, { id: 'z' }, { id: 'n0' }])
  answer(CHANGES, [{ id: 'n7', version: 1, state: 'failure' }])
  answer(LINES, [line('z', { name: 'moved' })])
  const rows = await again(true)
  expect(rows.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'n7 failure',
    'z normal',
    'n0 normal',
  ])
  expect(requestsTo(CHANGES)[0]!.query).toHaveProperty('since')
  expect(JSON.stringify(requestsTo(LINES)[1]!.query)).toContain('where[id]')
})

test('a long page with many rows that are not known is read as a page', async () => {
  const again = await watch(lines(60))
  const others = Array.from({ length: 51 }, (_, n) => line(`m${n}`))
  answer(ORDER, others)
  answer(CHANGES, [])
  answer(LINES, others)
  expect(await again(true)).toHaveLength(51)
  expect(JSON.stringify(requestsTo(LINES)[1]!.query)).not.toContain('where[id]')
})

test('the first value of a monitor is read with its unit', async () => {
  const again = await watch([line('a', { metric: null })])
  answer(CHANGES, [{ id: 'a', version: 1, state: 'normal', value: 3 }])
  answer(LINES, [line('a', { unit: 'ms' })])
  expect((await again())[0]!.unit).toBe('ms')
})

test('a check replaces the fields that it left out, and begins a new step of the trend', () => {
  const old = line('a', {
    message: 'timeout',
    flapping: true,
    value: 5,
    spark: [1],
    spark_from: '2026-01-01T00:00:00.000Z',
    spark_step: 60_000,
  })
  const change = { id: 'a', version: 1, state: 'normal', state_since: AT, last_check: AT, value: 7 }
  const row = withCheck(old, change)
  expect(row).toMatchObject({
    message: '',
    flapping: false,
    value: 7,
    last_check: AT,
    spark: [1, 7],
  })
  expect(withCheck(row, { ...change, value: 9 }).spark).toEqual([1, 7])
  expect(withCheck(row, { ...change, value: undefined }).value).toBe(7)
})

test('a host without a change is idle, and was seen if it is online', () => {
  const host = { id: 'h', state: 'online', failing: 2, cpu: 9, last_seen: AT } as HostLine
  expect(withChange(host)).toMatchObject({ failing: 0, running: 0, cpu: 9 })
  expect(withChange(host).last_seen! > AT).toBe(true)
  expect(withChange({ ...host, state: 'offline' }).last_seen).toBe(AT)
  expect(withChange(host, { id: 'h', running: 1 })).toMatchObject({ cpu: null, running: 1 })
})

test('hosts are read as changes until an event of a host', async () => {
  const client = new QueryClient()
  answer('GET /-/board/hosts', [{ id: 'h', state: 'online' }])
  answer('GET /-/board/hosts/changes', [{ id: 'h', cpu: 4 }])
  await client.fetchInfiniteQuery(hostsQuery({}))
  const { pages } = await client.fetchInfiniteQuery(hostsQuery({}))
  expect(pages[0]!.rows[0]!.cpu).toBe(4)
  await client.invalidateQueries({ queryKey: ['host'] })
  await client.fetchInfiniteQuery(hostsQuery({}))
  expect(requestsTo('GET /-/board/hosts')).toHaveLength(2)
  expect(requestsTo('GET /-/board/hosts/changes')).toHaveLength(1)
})

test('reading goes on a little before the newest time', () => {
  expect(sinceNewest([AT, null, undefined, '2026-01-01T00:00:01.000Z'])).toBe(
    '2026-01-01T00:00:55.000Z',
  )
  expect(sinceNewest([null])).toBe('1970-01-01T00:00:00.000Z')
})
