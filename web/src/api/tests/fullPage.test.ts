import { describe, expect, test } from 'vitest'
import type { RowsWithTotal } from '../client'
import { fullPage, nextAfter } from '../fullPage'

interface Row {
  id: string
}

function page(ids: string[], until: string | null): RowsWithTotal<Row[]> {
  return { rows: ids.map((id) => ({ id })), total: null, more: false, until }
}

/** A server that responds with these pages, and the requests that it received. */
function server(...pages: RowsWithTotal<Row[]>[]) {
  const requests: [number, string | undefined][] = []
  const read = async (query: { limit: number; after: string | undefined }) => {
    requests.push([query.limit, query.after])
    return pages[requests.length - 1] as RowsWithTotal<Row[]>
  }
  return { requests, read }
}

describe('a page of history', () => {
  test('continues behind an empty page that is not the last', async () => {
    const { requests, read } = server(page([], '7'), page(['5'], '4'), page(['2'], null))
    const full = await fullPage(3, undefined, read)
    expect(full.rows.map((row) => row.id)).toEqual(['5', '2'])
    expect(requests).toEqual([
      [3, undefined],
      [3, '7'],
      [2, '4'],
    ])
    expect(nextAfter(full, 3)).toBeUndefined()
  })

  test('ends when it is full', async () => {
    const { requests, read } = server(page(['9'], '8'), page(['6'], '3'))
    const full = await fullPage(2, 'a', read)
    expect(requests).toEqual([
      [2, 'a'],
      [1, '8'],
    ])
    expect(nextAfter(full, 2)).toBe('6')
  })

  test('is not continued where it was cut because of its size', async () => {
    const { requests, read } = server(page(['9', '8'], '8'))
    const full = await fullPage(5, undefined, read)
    expect(requests).toHaveLength(1)
    expect(nextAfter(full, 5)).toBe('8')
  })

  test('stops after a number of requests, and can be continued', async () => {
    const read = async () => page([], '1')
    expect(nextAfter(await fullPage(5, undefined, read), 5)).toBe('1')
  })
})
