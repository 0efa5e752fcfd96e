import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import exceptions from './exceptions.json'
import {
  bindings,
  isParticiple,
  isPrivateWord,
  isUninformative,
  PARTICIPLES,
  UNINFORMATIVE,
} from './names'
import { filesBelow, isScript, textOf } from './source'

const paths = [...filesBelow('src'), ...filesBelow('tests')].filter(isScript)
const bound = new Map(paths.map((path) => [path, bindings(path, textOf(path))]))

test('the words are read, and every kind of binding is examined', () => {
  expect(UNINFORMATIVE).toContain('found')
  expect(PARTICIPLES).toContain('told')
  const text = `
    export function told({ row: found }: { kept: string }, one = 1) {
      for (const it of []) { const [asked] = it }
    }`
  const names = bindings('example.ts', text)
    .filter(isUninformative)
    .map(({ name }) => name)
  expect(names).toEqual(['told', 'found', 'kept', 'one', 'it', 'asked'])
  expect(['joined', 'Drawn', 'proceed', 'join'].map(isParticiple)).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(['src/ui/Go.tsx', 'Seers', 'told', 'AppLink'].map(isPrivateWord)).toEqual([
    true,
    true,
    true,
    false,
  ])
})

// A number may only shrink: the test fails until exceptions.json says what is there. The one that is
// left is `LogEnd.kept`, a field of the interface.
test('values are named by nouns of the field', () => {
  const counts: Record<string, number> = {}
  for (const [path, names] of bound) {
    const count = names.filter(isUninformative).length
    if (count) counts[dirname(path)] = (counts[dirname(path)] ?? 0) + count
  }
  expect(counts).toEqual(exceptions['uninformative names'])
})

test('files and what they export have names that say what they are', () => {
  const isSource = ([path]: [string, unknown]) => path.startsWith('src/')
  const names = [...bound].filter(isSource).flatMap(([path, all]) => {
    const exported = all.filter(({ isExported, name }) => isExported && isPrivateWord(name))
    return exported.map(({ name }) => `${path} ${name}`)
  })
  const files = filesBelow('src').filter(isPrivateWord)
  expect([...files, ...names]).toEqual(exceptions['private words'])
})
