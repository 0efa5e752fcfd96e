import { expect, test } from 'vitest'
import {
  type Draft,
  faultOf,
  isEndless,
  isLoop,
  nameFault,
  replacedEdge,
  runsOf,
  textOf,
  unreachableNodes,
  withBound,
  withCopy,
  withEdge,
  withName,
  withNode,
  withoutNode,
} from '../graphDraft'

const empty: Draft = { start: '', nodes: [], edges: [] }
const task = (name: string) => ({ id: `task of ${name}`, name })
const three = ['a', 'b', 'c'].reduce((draft, name) => withNode(draft, task(name)), empty)
const line = withEdge(withEdge(three, { source: 'a', target: 'b', on: 'success' }), {
  source: 'b',
  target: 'c',
  on: 'success',
})

test('the first step is the start, and a second one of a task gets a number', () => {
  const draft = withNode(withNode(empty, task('a')), task('a'))
  expect(draft.start).toBe('a')
  expect(draft.nodes.map((node) => node.id)).toEqual(['a', 'a 2'])
})

test('a step runs a task or a workflow', () => {
  const draft = withNode(withNode(empty, task('a')), { ...task('b'), isWorkflow: true })
  expect(draft.nodes).toEqual([
    { id: 'a', task_id: 'task of a' },
    { id: 'b', workflow_id: 'task of b' },
  ])
  expect(draft.nodes.map(runsOf)).toEqual(['task of a', 'task of b'])
})

test('a cycle without a limit is refused, however long it is', () => {
  expect(faultOf(line, { source: 'c', target: 'a', on: 'success' })).toBe('circle')
  expect(faultOf(line, { source: 'a', target: 'a', on: 'success' })).toBe('circle')
  expect(faultOf(line, { source: 'a', target: 'c', on: 'success' })).toBeNull()
})

test('a limit on one edge of each cycle is enough', () => {
  const back = { source: 'c', target: 'a', on: 'failure', max_visits: 3 }
  expect(faultOf(line, back)).toBeNull()
  const round = withEdge(line, back)
  // Without it the circle has no end; with it the others need none.
  expect(isEndless(round, withBound(back, null))).toBe(true)
  expect(isEndless(round, { source: 'a', target: 'b', on: 'success' })).toBe(false)
  expect(round.edges.map((edge) => isLoop(round, edge))).toEqual([true, true, true])
  expect(withBound(back, null)).toEqual({ source: 'c', target: 'a', on: 'failure' })
  expect(unreachableNodes(round)).toEqual([])
  // Another bound is another graph.
  expect(textOf(round)).not.toBe(textOf(replacedEdge(round, back, withBound(back, 4))))
})

test('the same connection counts once, another event is another connection', () => {
  expect(faultOf(line, { source: 'a', target: 'b', on: 'success' })).toBe('twice')
  expect(faultOf(line, { source: 'a', target: 'b', on: 'failure' })).toBeNull()
})

test('steps that cannot be reached from the start are named', () => {
  expect(unreachableNodes(three)).toEqual(['b', 'c'])
  expect(unreachableNodes(line)).toEqual([])
})

test('a removed step takes its connections along, and the start moves on', () => {
  const draft = withoutNode(line, 'a')
  expect(draft.start).toBe('b')
  expect(draft.edges).toEqual([{ source: 'b', target: 'c', on: 'success' }])
})

test('the event of one connection changes, not of the others', () => {
  const edge = { source: 'a', target: 'b', on: 'success' }
  const draft = replacedEdge(line, edge, { ...edge, on: 'always' })
  expect(draft.edges.map((edge) => edge.on ?? 'success')).toEqual(['always', 'success'])
})

test('renaming a step changes its connections, the start and the arguments from it', () => {
  const sources = [{ node: 'a', index: 0 }, { value: 'x' }]
  const draft = {
    ...line,
    nodes: line.nodes.map((node) => (node.id === 'b' ? { ...node, arguments: sources } : node)),
  }
  const next = withName(draft, 'a', 'first')
  expect(next.start).toBe('first')
  expect(next.nodes.map((node) => node.id)).toEqual(['first', 'b', 'c'])
  expect(next.nodes[1]!.arguments).toEqual([{ node: 'first', index: 0 }, { value: 'x' }])
  expect(next.edges[0]).toEqual({ source: 'first', target: 'b', on: 'success' })
  expect(unreachableNodes(next)).toEqual([])
})

test('a name is needed, and no two steps have the same', () => {
  expect(nameFault(line, 'a', '')).toBe('empty')
  expect(nameFault(line, 'a', 'b')).toBe('used')
  expect(nameFault(line, 'a', 'a')).toBeNull()
  expect(nameFault(line, 'a', 'x'.repeat(129))).toBe('long')
})

test('a copy has the settings of the step, another name and no connections', () => {
  const retry = { times: 2, delay: 0, backoff: 1, on_lost: false }
  const draft = { ...line, nodes: line.nodes.map((node) => ({ ...node, retry })) }
  const next = withCopy(withCopy(draft, 'b'), 'b', { x: 1, y: 2 })
  expect(next.nodes.slice(3)).toEqual([
    { id: 'b 2', task_id: 'task of b', retry },
    { id: 'b 3', task_id: 'task of b', retry, position: { x: 1, y: 2 } },
  ])
  expect(next.edges).toEqual(line.edges)
})
