import { expect, test } from 'vitest'
import { reasonText } from '../../src/ui/job/reasons'
import { cataloguesIn, namesReadIn } from './catalogues'
import { PARTICIPLES, UNINFORMATIVE } from './names'
import { filesBelow, importGraph, isScript, textOf } from './source'

const paths = filesBelow('src').filter((path) => isScript(path) && !path.includes('/tests/'))
const texts = new Map(paths.map((path) => [path, textOf(path)]))
const catalogues = paths.flatMap((path) => cataloguesIn(path, texts.get(path)!))

test('keys of all levels are read, and those that a file uses', () => {
  const text = `
    const useText = catalogue(
      { title: 'T', tabs: { a: 'A' } as Record<string, string> },
      { title: 'T', tabs: { a: 'A', b: 'B' } },
    )
    const { title } = useText()`
  expect(cataloguesIn('text.ts', text)).toEqual([
    {
      path: 'text.ts',
      name: 'useText',
      languages: [
        ['title', 'tabs', 'tabs.a'],
        ['title', 'tabs', 'tabs.a', 'tabs.b'],
      ],
      isLookup: false,
    },
  ])
  expect([...namesReadIn('text.ts', text)]).toEqual(['title'])
  expect(catalogues.length).toBeGreaterThan(30)
})

test('English and Spanish have the same keys', () => {
  const differences = catalogues.flatMap(({ path, name, languages: [english, spanish] }) => {
    const lacks = (keys: string[], other: string[]) => keys.filter((key) => !other.includes(key))
    return [...lacks(english!, spanish!), ...lacks(spanish!, english!)].map(
      (key) => `${path} ${name} ${key}`,
    )
  })
  expect(differences).toEqual([])
})

test('every documented reason of a job has a text, also that of a job on hold', () => {
  const table = textOf('../docs/reference/jobs.md')
    .split('## Why a job ended')[1]!
    .split('\n## ')[0]!
  const cells = table.split('\n').map((line) => line.split('|')[1] ?? '')
  const codes = cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!))
  expect(codes.length).toBeGreaterThan(20)
  expect([...codes, 'held'].filter((code) => reasonText(code) === code)).toEqual([])
})

test('a key says what the text is about', () => {
  const isPrivate = (key: string) =>
    key.split('.').some((word) => UNINFORMATIVE.has(word) || PARTICIPLES.has(word))
  const keys = catalogues.flatMap(({ path, name, languages: [english], isLookup }) =>
    isLookup ? [] : english!.filter(isPrivate).map((key) => `${path} ${name} ${key}`),
  )
  expect(keys).toEqual([])
})

test('every text is used', () => {
  const graph = importGraph(texts)
  const names = new Map(paths.map((path) => [path, namesReadIn(path, texts.get(path)!)]))
  const unused = catalogues.flatMap(({ path, name, languages: [english], isLookup }) => {
    if (isLookup) return []
    const readers = [path, ...paths.filter((other) => graph.get(other)!.includes(path))]
    // A reader may take the key from a constant of a file that it imports.
    const sources = new Set(readers.flatMap((reader) => [reader, ...graph.get(reader)!]))
    const used = new Set([...sources].flatMap((source) => [...names.get(source)!]))
    const ends = [...used].filter((word) => word.startsWith('*')).map((word) => word.slice(1))
    const isUsed = (key: string) => used.has(key) || ends.some((end) => key.endsWith(end))
    // Keys of a deeper level are chosen by a value: `t.states[job.state]`.
    const keys = english!.filter((key) => !key.includes('.'))
    return keys.filter((key) => !isUsed(key)).map((key) => `${path} ${name} ${key}`)
  })
  expect(unused).toEqual([])
})

test('English texts have one spelling', () => {
  // The interface says `canceled`; an e-mail is not a letter.
  const OTHER_SPELLINGS = /\bcancell(?:ed|ing)\b|(?<!e-)\bmails?\b(?= (?:to|about))/i
  const lines = paths
    .filter((path) => texts.get(path)!.includes('catalogue('))
    .flatMap((path) =>
      texts
        .get(path)!
        .split('\n')
        .map((line) => `${path}: ${line.trim()}`),
    )
  expect(lines.filter((line) => OTHER_SPELLINGS.test(line))).toEqual([])
})
