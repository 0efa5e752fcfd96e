// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { diffLines, foldUnchanged } from '../diff'
import { languageOf } from '../languages'

const diff = (before: string, after: string) =>
  diffLines(before, after).map((line) => line.kind + line.text)

it('a diff is the shortest way, with line numbers of both sides', () => {
  expect(diff('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c'])
  expect(diff('', 'a')).toEqual(['-', '+a'])
  expect(diff('a\nb\nc\nd', 'b\nd\ne')).toEqual(['-a', ' b', '-c', ' d', '+e'])
  expect(diffLines('a\nb', 'b').at(-1)).toEqual({ kind: ' ', text: 'b', before: 2, after: 1 })
})

it('applying a diff gives the new text, whatever the two are', () => {
  let seed = 7
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648)
  const text = () => Array.from({ length: next() % 30 }, () => 'abc'[next() % 3]).join('\n')
  for (let n = 0; n < 200; n += 1) {
    const [before, after] = [text(), text()]
    const lines = diffLines(before, after)
    const side = (sign: string) => lines.filter((line) => line.kind !== sign).map((l) => l.text)
    expect(side('+').join('\n')).toBe(before)
    expect(side('-').join('\n')).toBe(after)
  }
})

it('lines far from a change are counted, not shown', () => {
  const before = Array.from({ length: 20 }, (_, n) => String(n)).join('\n')
  const parts = foldUnchanged(diffLines(before, before.replace('\n10\n', '\nten\n')), 2)
  expect(parts[0]).toEqual({ hidden: 8 })
  expect(parts).toHaveLength(1 + 2 + 2 + 2 + 1)
})

it('the language follows name, way of running, first line', () => {
  expect(languageOf('a.py')).toBe('python')
  expect(languageOf('run', '/usr/bin/node %script%')).toBe('javascript')
  expect(languageOf('run', '', '#!/usr/bin/env bash\n')).toBe('shell')
  expect(languageOf('notes')).toBe('text')
})
