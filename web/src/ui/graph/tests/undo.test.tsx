// @vitest-environment happy-dom
import { act, renderHook, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { renderInConsole } from '../../../../tests/unit/render'
import { FlowTable } from '../FlowTable'
import type { Edge } from '../graphDraft'
import { HEIGHT, laidOut, WIDTH } from '../layout'
import { useUndo } from '../undo'

function history(...values: number[]) {
  const { result } = renderHook(() => useUndo(values[0]!))
  for (const value of values.slice(1)) act(() => result.current.set(value))
  return result
}

test('changes are undone one by one, and redone', () => {
  const result = history(1, 2, 3)
  act(() => result.current.undo())
  expect(result.current.now).toBe(2)
  act(() => result.current.undo())
  expect([result.current.now, result.current.canUndo]).toEqual([1, false])
  act(() => result.current.redo())
  act(() => result.current.redo())
  expect([result.current.now, result.current.canRedo]).toEqual([3, false])
})

test('a new change after an undo clears the redo history', () => {
  const result = history(1, 2)
  act(() => result.current.undo())
  act(() => result.current.set(9))
  expect(result.current.canRedo).toBe(false)
  act(() => result.current.redo())
  expect(result.current.now).toBe(9)
  act(() => result.current.undo())
  expect(result.current.now).toBe(1)
})

test('undo and redo at the ends do nothing', () => {
  const result = history(1)
  act(() => result.current.undo())
  act(() => result.current.redo())
  expect(result.current.now).toBe(1)
})

test('a hundred changes are remembered', () => {
  const result = history(...Array.from({ length: 150 }, (_, index) => index))
  for (let count = 0; count < 150; count++) act(() => result.current.undo())
  expect(result.current.now).toBe(49)
})

test('a reset has no past', () => {
  const result = history(1, 2)
  act(() => result.current.reset(7))
  expect([result.current.now, result.current.canUndo, result.current.canRedo]).toEqual([
    7,
    false,
    false,
  ])
})

const nodes = ['a', 'b', 'c', 'd'].map((id) => ({ id, task_id: id }))
const chain: Edge[] = [
  { source: 'a', target: 'b', on: 'success' },
  { source: 'b', target: 'c', on: 'success' },
  { source: 'c', target: 'd', on: 'success' },
]
const WIDE = { width: 2_000, height: 300 }
const HIGH = { width: 300, height: 2_000 }

test('a chain runs across a wide frame and down a high one', () => {
  expect(laidOut(nodes, chain, WIDE).direction).toBe('LR')
  expect(laidOut(nodes, chain, HIGH).direction).toBe('TB')
})

test('steps do not overlap, and follow the order of the chain', () => {
  const { places } = laidOut(nodes, chain, WIDE)
  const columns = nodes.map(({ id }) => places.get(id)!.x)
  for (const [index, x] of columns.slice(1).entries())
    expect(x - columns[index]!).toBeGreaterThan(WIDTH)
  const tree = laidOut(
    nodes,
    [
      { source: 'a', target: 'b', on: 'success' },
      { source: 'a', target: 'c', on: 'success' },
    ],
    HIGH,
  )
  const [first, second] = [tree.places.get('b')!, tree.places.get('c')!]
  const isApart = Math.abs(first.x - second.x) > WIDTH || Math.abs(first.y - second.y) > HEIGHT
  expect(isApart).toBe(true)
})

test('a connection that leads back does not reverse the order', () => {
  const back = { source: 'd', target: 'a', on: 'failure', max_visits: 3 }
  const { places } = laidOut(nodes, [...chain, back], WIDE)
  expect(places.get('a')!.x).toBeLessThan(places.get('d')!.x)
})

test('steps that were placed by hand decide the direction', () => {
  const placed = nodes.map((node, index) => ({ ...node, position: { x: 0, y: index * 100 } }))
  expect(laidOut(placed, chain, WIDE).direction).toBe('TB')
})

test('the table marks the start, the next steps and the progress of a run', () => {
  const steps = new Map([['a', { look: 'ok' as const, word: 'Succeeded', visits: 2 }]])
  renderInConsole(
    <FlowTable
      draft={{ start: 'a', nodes: nodes.slice(0, 2), edges: chain.slice(0, 1) }}
      tasks={new Map([['a', { name: 'Build', detail: '' }]])}
      steps={steps}
    />,
  )
  const cells = screen.getAllByRole('cell').map((cell) => cell.textContent)
  expect(cells[0]).toMatch(/a \(start\) ×2$/)
  expect(cells[1]).toBe('Build')
  expect(cells[2]).toContain('b')
  expect(cells[0]).toContain('Succeeded')
  expect(cells[3]).toContain('Not reached')
})
