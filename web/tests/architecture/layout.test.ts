import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { cycles, filesBelow, importGraph, isScript, textOf } from './source'

const MAX_FILES = 12
const MAX_LINES = 400

const source = filesBelow('src')
const scripts = source.filter(isScript)

test('a cycle is found through a lazy and a type-only import', () => {
  const files = new Map([
    ['src/routes.tsx', "const page = () => import('./pages/Page')"],
    ['src/pages/Page.tsx', "import { words } from '../text'"],
    ['src/text.ts', "import type { Route } from './routes'"],
    ['src/alone.ts', "import { words } from './text'"],
  ])
  expect(cycles(importGraph(files)).map((group) => group.toSorted())).toEqual([
    ['src/pages/Page.tsx', 'src/routes.tsx', 'src/text.ts'],
  ])
})

test('no files import each other in a cycle', () => {
  const graph = importGraph(new Map(scripts.map((path) => [path, textOf(path)])))
  expect(graph.get('src/router.tsx')).toContain('src/pages/jobs/routes.tsx')
  expect(cycles(graph)).toEqual([])
})

test(`a folder has at most ${MAX_FILES} files`, () => {
  const sizes = new Map<string, number>()
  for (const path of source) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1)
  expect([...sizes].filter(([, size]) => size > MAX_FILES)).toEqual([])
})

test(`a file has at most ${MAX_LINES} lines`, () => {
  const long = scripts.filter((path) => textOf(path).split('\n').length > MAX_LINES)
  expect(long).toEqual([])
})
