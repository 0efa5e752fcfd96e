import { expect, test } from 'vitest'
import { choicesOf, keyOf, type Sample, sourceOf, withSource } from './sources'

const names = { output: (n: number) => `Output ${n}`, input: (name: string) => `Argument ${name}` }

function labels(samples: [string, Sample][], before = ['lookup']): string[] {
  const choices = choicesOf(before, new Map(samples), names)
  return choices.map(({ node, label, example }) => `${node} ${label}=${example}`)
}

test('outputs, their members and readable arguments of earlier steps are offered', () => {
  const sample: Sample = {
    output: [{ user: 'ada', tags: ['x'] }, '{"count": 7}', 'plain'],
    input: [
      { name: 'who', value: 'max', isReadable: true },
      { name: 'password', value: '***', isReadable: false },
    ],
  }
  expect(labels([['lookup', sample]])).toEqual([
    'lookup Output 1={"user":"ada","tags":["x"]}',
    'lookup Output 1 › user=ada',
    'lookup Output 1 › tags=["x"]',
    'lookup Output 2={"count": 7}',
    'lookup Output 2 › count=7',
    'lookup Output 3=plain',
    'lookup Argument who=max',
  ])
})

test('a step that has not run offers its first output', () => {
  expect(labels([], ['build', 'lookup'])).toEqual(['build Output 1=', 'lookup Output 1='])
})

test('a source survives the way through a key, without defaults', () => {
  for (const source of [
    { node: 'a', index: 0 },
    { node: 'a', index: 2, keys: ['x', 'y.z'] },
    { node: 'a', index: 1, part: 'input' as const },
  ])
    expect(sourceOf(keyOf(source))).toEqual(source)
  expect(keyOf({ node: 'a' })).toBe(keyOf({ node: 'a', part: 'output', index: 0, keys: [] }))
  expect(sourceOf('fixed')).toEqual({ value: '' })
})

test('choosing one argument keeps the others as they were passed on before', () => {
  expect(withSource([], 1, { value: 'x' }, 3, 'build')).toEqual([
    { node: 'build', index: 0 },
    { value: 'x' },
    { node: 'build', index: 2 },
  ])
  expect(withSource([{ node: 'a' }], 1, { value: 'x' }, 2, undefined)).toEqual([
    { node: 'a' },
    { value: 'x' },
  ])
})
