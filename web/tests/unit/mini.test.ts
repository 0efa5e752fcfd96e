import { expect, test } from 'vitest'
import { mini } from '../../src/pages/workflows/list/miniLayout'

type Edges = Parameters<typeof mini>[0]['edges']

function graph(names: string, edges: [string, string, number?][]) {
  const nodes = [...names].map((id) => ({ id, task_id: 'task' }))
  const all = edges.map(([source, target, max_visits]) => ({ source, target, max_visits }))
  return mini({ start: names[0]!, nodes, edges: all as Edges })
}

/** The steps of each column, from left to right. */
function columns({ dots }: ReturnType<typeof mini>): string {
  const xs = [...new Set(dots.map(({ x }) => x))].sort((a, b) => a - b)
  return xs.map((x) => dots.flatMap((dot) => (dot.x === x ? [dot.id] : [])).join('')).join(' ')
}

test('a step stands right of everything that leads to it', () => {
  const short: [string, string] = ['a', 'd']
  const found = graph('abcd', [short, ['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd']])
  expect(columns(found)).toBe('a bc d')
  expect(found).toMatchObject({ width: 36, height: 24, left: 0 })
  expect(found.lines).toHaveLength(5)
})

test('what leads back turns nothing round, and two ways are one line', () => {
  const found = graph('abc', [
    ['a', 'b'],
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a', 3],
    ['b', 'b', 2],
  ])
  expect(columns(found)).toBe('a b c')
  expect(found.lines).toHaveLength(4)
})

test('a long one is cut and says by how much; an empty one is nothing', () => {
  const names = 'abcdefghijklmnop'
  const found = graph(
    names,
    [...names].slice(1).map((id, i) => [names[i]!, id]),
  )
  expect(columns(found).replaceAll(' ', '')).toBe('abcdefghijkl')
  expect(found.left).toBe(4)
  const fan = graph(
    'abcdef',
    [...'bcdef'].map((id) => ['a', id]),
  )
  expect(columns(fan)).toBe('a bcde')
  expect(fan).toMatchObject({ height: 48, left: 1 })
  expect(fan.lines).toHaveLength(4)
  expect(mini({ start: '', nodes: [], edges: [] }).dots).toEqual([])
})
