import { expect, test } from 'vitest'
import { miniLayout } from '../miniLayout'

type Edges = Parameters<typeof miniLayout>[0]['edges']

function graph(names: string, edges: [string, string, number?][]) {
  const nodes = [...names].map((id) => ({ id, task_id: 'task' }))
  const all = edges.map(([source, target, max_visits]) => ({ source, target, max_visits }))
  return miniLayout({ start: names[0]!, nodes, edges: all as Edges })
}

/** The steps of each column, from left to right. */
function columns({ dots }: ReturnType<typeof miniLayout>): string {
  const xs = [...new Set(dots.map(({ x }) => x))].sort((a, b) => a - b)
  return xs.map((x) => dots.flatMap((dot) => (dot.x === x ? [dot.id] : [])).join('')).join(' ')
}

test('a step is placed to the right of the steps that lead to it', () => {
  const short: [string, string] = ['a', 'd']
  const layout = graph('abcd', [short, ['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd']])
  expect(columns(layout)).toBe('a bc d')
  expect(layout).toMatchObject({ width: 36, height: 24, hidden: 0 })
  expect(layout.lines).toHaveLength(5)
})

test('a connection back does not change the order, and two directions are one line', () => {
  const layout = graph('abc', [
    ['a', 'b'],
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a', 3],
    ['b', 'b', 2],
  ])
  expect(columns(layout)).toBe('a b c')
  expect(layout.lines).toHaveLength(4)
})

test('a long text is cut and says by how much; an empty text is empty', () => {
  const names = 'abcdefghijklmnop'
  const layout = graph(
    names,
    [...names].slice(1).map((id, i) => [names[i]!, id]),
  )
  expect(columns(layout).replaceAll(' ', '')).toBe('abcdefghijkl')
  expect(layout.hidden).toBe(4)
  const fan = graph(
    'abcdef',
    [...'bcdef'].map((id) => ['a', id]),
  )
  expect(columns(fan)).toBe('a bcde')
  expect(fan).toMatchObject({ height: 48, hidden: 1 })
  expect(fan.lines).toHaveLength(4)
  expect(miniLayout({ start: '', nodes: [], edges: [] }).dots).toEqual([])
})
