import { expect, test } from 'vitest'
import { HEIGHT, isNarrow, laidOut, viewportOf, WIDTH } from '../layout'

const PHONE = { width: 356, height: 600 }
const DESKTOP = { width: 1100, height: 600 }
const row = (count: number) =>
  new Map(Array.from({ length: count }, (_, n) => [`s${n}`, { x: n * 260, y: 40 }]))

test('a graph that fits is centred and not drawn larger than one and a quarter', () => {
  const { x, y, zoom } = viewportOf(row(2), 's0', DESKTOP)
  expect(zoom).toBe(1.25)
  const [begin, end] = [x, x + (260 + WIDTH) * zoom]
  expect(begin).toBeCloseTo(DESKTOP.width - end)
  const [top, bottom] = [y + 40 * zoom, y + (40 + HEIGHT) * zoom]
  expect(top).toBeCloseTo(DESKTOP.height - bottom)
})

test('a graph that would be too small to read begins with its first step', () => {
  const { x, zoom } = viewportOf(row(6), 's0', PHONE)
  expect(zoom).toBe(0.8)
  expect(x).toBe(16)
  expect(viewportOf(row(6), 's0', DESKTOP).zoom).toBeGreaterThan(0.6)
  expect(viewportOf(row(40), 's0', DESKTOP).zoom).toBe(0.5)
})

test('where the first step is at the end, the space beyond it is not shown', () => {
  const { x, zoom } = viewportOf(row(6), 's5', PHONE)
  expect(x + (5 * 260 + WIDTH) * zoom).toBeCloseTo(PHONE.width - 16)
})

test('a graph without steps has a viewport too', () => {
  expect(Number.isFinite(viewportOf(new Map(), '', PHONE).x)).toBe(true)
})

test('a narrow frame gets a chain from top to bottom', () => {
  const nodes = ['a', 'b', 'c'].map((id) => ({ id, task_id: id }))
  const edges = [
    { source: 'a', target: 'b', on: 'success' },
    { source: 'b', target: 'c', on: 'success' },
  ]
  expect(laidOut(nodes, edges, PHONE).direction).toBe('TB')
  expect(laidOut(nodes, edges, { width: 1100, height: 300 }).direction).toBe('LR')
  expect([isNarrow(PHONE), isNarrow(DESKTOP), isNarrow({ width: 0, height: 0 })]).toEqual([
    true,
    false,
    false,
  ])
})
