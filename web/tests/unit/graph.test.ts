import { expect, test } from 'vitest'
import { edgeStateOf } from '../../src/ui/graph/edgeStates'
import {
  type Draft,
  nodesBefore,
  withEdge,
  withNode,
  withoutNode,
  withPlaces,
} from '../../src/ui/graph/graphDraft'
import { freePlace, HEIGHT, laidOut, WIDTH } from '../../src/ui/graph/layout'

const draft: Draft = {
  start: 'a',
  nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, task_id: id })),
  edges: [
    { source: 'a', target: 'b', on: 'success' },
    { source: 'b', target: 'c', on: 'success' },
    { source: 'a', target: 'd', on: 'failure' },
    { source: 'c', target: 'b', on: 'again', max_visits: 2 },
  ],
}

test('the steps before a step are listed, the nearest first', () => {
  expect(nodesBefore(draft, 'c')).toEqual(['b', 'a'])
  expect(nodesBefore(draft, 'd')).toEqual(['a'])
  expect(nodesBefore(draft, 'a')).toEqual([])
})

test('a step that moves fixes the places of all, and a new one takes a free place', () => {
  const places = new Map(draft.nodes.map((node, n) => [node.id, { x: n * 300.4, y: 0 }]))
  const placed = withPlaces(draft, places)
  expect(placed.nodes[1]!.position).toEqual({ x: 300, y: 0 })
  expect(freePlace(draft)).toBeUndefined()
  expect(freePlace(placed, 'd')).toEqual({ x: 901 + WIDTH + 64, y: 0 })
  // Behind b is c: the new step is below it.
  expect(freePlace(placed, 'b')).toEqual({ x: 300 + WIDTH + 64, y: HEIGHT + 24 })
  const grown = withNode(placed, { id: 't', name: 'new' }, freePlace(placed, 'd'))
  expect(grown.nodes.slice(0, 4)).toEqual(placed.nodes)
})

test('a tree that was arranged downwards stays so after one step is moved', () => {
  const { nodes, edges } = {
    nodes: ['a', 'b', 'd'].map((id) => ({ id })),
    edges: draft.edges.filter((edge) => edge.source === 'a'),
  }
  const places = { a: { x: 104, y: 0 }, b: { x: 0, y: 96 }, d: { x: 230, y: 150 } }
  const placed = nodes.map((node) => ({ ...node, position: places[node.id as 'a'] }))
  expect(laidOut(placed, edges, { width: 2000, height: 300 }).direction).toBe('TB')
  const turned = placed.map(({ id, position: { x, y } }) => ({ id, position: { x: y * 3, y: x } }))
  expect(laidOut(turned, edges, { width: 300, height: 2000 }).direction).toBe('LR')
})

test('arguments from a removed step become empty', () => {
  const source = { node: 'a', index: 1 }
  const nodes = draft.nodes.map((node) =>
    node.id === 'c' ? { ...node, arguments: [source, { node: 'b' }] } : node,
  )
  const next = withoutNode({ ...draft, nodes }, 'a')
  expect(next.nodes.find((node) => node.id === 'c')!.arguments).toEqual([
    { value: '' },
    { node: 'b' },
  ])
})

test('an edge is followed, skipped or still open', () => {
  const ended = (node_id: string, trigger_name: string) => ({
    node_id,
    state: 'ended',
    trigger_name,
  })
  const states = (steps: Parameters<typeof edgeStateOf>[1]) =>
    withEdge(draft, { source: 'd', target: 'c', on: 'always' }).edges.map((edge) =>
      edgeStateOf(edge, steps),
    )
  const running = { node_id: 'b', state: 'open', trigger_name: null }
  expect(states([])).toEqual(['open', 'open', 'open', 'open', 'open'])
  expect(states([ended('a', 'success'), running])).toEqual([
    'followed',
    'open',
    'skipped',
    'open',
    'open',
  ])
  expect(states([ended('a', 'failure'), ended('d', 'timeout')])).toEqual([
    'skipped',
    'skipped',
    'followed',
    'skipped',
    'followed',
  ])
})
