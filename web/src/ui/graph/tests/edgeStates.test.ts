import { expect, test } from 'vitest'
import { edgeStateOf } from '../edgeStates'
import { type Draft, nodesBefore, withChange, withoutEdge, withPlaces } from '../graphDraft'

const step = (node_id: string, state: string, trigger_name = '') =>
  ({ node_id, state, trigger_name }) as never
const edge = (on?: string) => ({ source: 'a', target: 'b', on }) as never

test('an edge is followed if its step ended with its event', () => {
  expect(edgeStateOf(edge('failure'), [step('a', 'ended', 'failure')])).toBe('followed')
  expect(edgeStateOf(edge('always'), [step('a', 'ended', 'timeout')])).toBe('followed')
  // Without an event it means success.
  expect(edgeStateOf(edge(), [step('a', 'ended', 'success')])).toBe('followed')
})

test('an edge is skipped if its step ended with another event', () => {
  expect(edgeStateOf(edge('failure'), [step('a', 'ended', 'success')])).toBe('skipped')
})

test('an edge is open until its step ends, and skipped once the run is over without it', () => {
  expect(edgeStateOf(edge(), [])).toBe('open')
  expect(edgeStateOf(edge(), [step('a', 'running')])).toBe('open')
  expect(edgeStateOf(edge(), [step('start', 'running')])).toBe('open')
  expect(edgeStateOf(edge(), [step('start', 'ended', 'failure')])).toBe('skipped')
})

test('one visit with the event is enough in a loop', () => {
  const visits = [step('a', 'ended', 'failure'), step('a', 'ended', 'success')]
  expect(edgeStateOf(edge('failure'), visits)).toBe('followed')
})

const DIAMOND: Draft = {
  start: 'a',
  nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, task_id: id })) as Draft['nodes'],
  edges: [
    ['a', 'b'],
    ['a', 'c'],
    ['b', 'd'],
    ['c', 'd'],
    ['d', 'a'],
  ].map(([source, target]) => ({ source, target, on: 'success' })) as Draft['edges'],
}

test('the steps before a step are listed once, the nearest first, also in a loop', () => {
  expect(nodesBefore(DIAMOND, 'd')).toEqual(['b', 'c', 'a'])
  expect(nodesBefore(DIAMOND, 'b')).toEqual(['a', 'd', 'c'])
})

test('a moved step keeps whole numbers, and steps without a place stay without one', () => {
  const moved = withPlaces(DIAMOND, new Map([['b', { x: 1.6, y: -0.4 }]]))
  expect(moved.nodes.map((node) => node.position)).toEqual([
    undefined,
    { x: 2, y: -0 },
    undefined,
    undefined,
  ])
})

test('a change and a removed connection leave the others as they were', () => {
  const changed = withChange(DIAMOND, 'c', { join: 'all' } as never)
  expect(changed.nodes.filter((node) => 'join' in node).map((node) => node.id)).toEqual(['c'])
  const cut = withoutEdge(DIAMOND, { source: 'a', target: 'b' } as never)
  expect(cut.edges.map((other) => other.source + other.target)).toEqual(['ac', 'bd', 'cd', 'da'])
})
